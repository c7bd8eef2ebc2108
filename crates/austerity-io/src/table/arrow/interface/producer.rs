//! A producer for tests: it serves given columns and counts those released.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// An array to be given.
#[derive(Clone, Default)]
pub(crate) struct Given {
    pub(crate) length: i64,
    pub(crate) offset: i64,
    pub(crate) nulls: i64,
    pub(crate) buffers: Vec<Option<Vec<u8>>>,
    pub(crate) children: Vec<Given>,
    pub(crate) dictionary: Option<Box<Given>>,
}

/// Lives as long as what was given.
struct Owner<T> {
    _given: Vec<Option<Vec<u8>>>,
    _texts: Vec<std::ffi::CString>,
    addresses: Vec<*const c_void>,
    children: Vec<*mut T>,
    dictionary: *mut T,
    released: Arc<AtomicUsize>,
}

impl<T> Drop for Owner<T> {
    fn drop(&mut self) {
        for child in self.children.drain(..).chain((!self.dictionary.is_null()).then_some(self.dictionary)) {
            // SAFETY: made by `Box::into_raw` below and freed here only. Dropping what was moved out does nothing.
            drop(unsafe { Box::from_raw(child) });
        }
        self.released.fetch_add(1, Ordering::SeqCst);
    }
}

unsafe extern "C" fn free_array(array: *mut RawArray) {
    // SAFETY: the owner was put there by `array` below.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Owner<RawArray>>()));
        (*array).release = None;
    }
}

unsafe extern "C" fn free_schema(schema: *mut RawSchema) {
    // SAFETY: as above, by `schema`.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<Owner<RawSchema>>()));
        (*schema).release = None;
    }
}

fn array(given: &Given, released: &Arc<AtomicUsize>) -> RawArray {
    let made = |one: &Given| Box::into_raw(Box::new(array(one, released)));
    let buffers = given.buffers.clone();
    let address = |buffer: &Option<Vec<u8>>| buffer.as_ref().map_or(null(), |bytes| bytes.as_ptr().cast());
    let mut owner = Box::new(Owner {
        addresses: buffers.iter().map(address).collect(),
        _given: buffers,
        _texts: Vec::new(),
        children: given.children.iter().map(made).collect(),
        dictionary: given.dictionary.as_deref().map_or(null_mut(), made),
        released: released.clone(),
    });
    RawArray {
        length: given.length,
        null_count: given.nulls,
        offset: given.offset,
        buffer_count: owner.addresses.len() as i64,
        children_count: owner.children.len() as i64,
        buffers: owner.addresses.as_mut_ptr(),
        children: owner.children.as_mut_ptr(),
        dictionary: owner.dictionary,
        release: Some(free_array),
        private_data: Box::into_raw(owner).cast(),
    }
}

fn schema(field: &Field) -> RawSchema {
    let made = |one: &Field| Box::into_raw(Box::new(schema(one)));
    let texts = [&field.format, &field.name].map(|text| std::ffi::CString::new(text.as_str()).unwrap());
    let mut owner = Box::new(Owner {
        _given: Vec::new(),
        addresses: texts.iter().map(|text| text.as_ptr().cast()).collect(),
        _texts: texts.into(),
        children: field.children.iter().map(made).collect(),
        dictionary: field.dictionary.as_deref().map_or(null_mut(), made),
        released: Arc::default(),
    });
    RawSchema {
        format: owner.addresses[0].cast(),
        name: owner.addresses[1].cast(),
        metadata: null(),
        flags: if field.ordered { ORDERED } else { 0 },
        children_count: owner.children.len() as i64,
        children: owner.children.as_mut_ptr(),
        dictionary: owner.dictionary,
        release: Some(free_schema),
        private_data: Box::into_raw(owner).cast(),
    }
}

struct Source {
    field: Field,
    batches: std::vec::IntoIter<Given>,
    released: Arc<AtomicUsize>,
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut RawSchema) -> c_int {
    // SAFETY: the source was put there by `stream` below; `out` is the caller's.
    unsafe { out.write(schema(&(*(*stream).private_data.cast::<Source>()).field)) };
    0
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut RawArray) -> c_int {
    // SAFETY: as above.
    let source = unsafe { &mut *(*stream).private_data.cast::<Source>() };
    match source.batches.next() {
        // A batch without buffers stands for an error of the producer.
        Some(batch) if batch.length == i64::MIN => return 5,
        // SAFETY: as above.
        Some(batch) => unsafe { out.write(array(&batch, &source.released)) },
        None => {}
    }
    0
}

unsafe extern "C" fn last_error(_: *mut Stream) -> *const c_char {
    c"the disk is on fire".as_ptr()
}

unsafe extern "C" fn free_stream(stream: *mut Stream) {
    // SAFETY: as above.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Source>()));
        (*stream).release = None;
    }
}

/// One batch with its type.
pub(crate) fn alone(of: &Field, given: &Given) -> Batch {
    let (mut schema, mut array) = (schema(of), array(given, &Arc::default()));
    let addresses = (NonNull::from(&mut schema).cast(), NonNull::from(&mut array).cast());
    // SAFETY: they are what they are said to be, and nobody else has them.
    let taken = unsafe { Batch::take(addresses.0, addresses.1) }.unwrap();
    // SAFETY: as above.
    assert!(unsafe { Batch::take(addresses.0, addresses.1) }.is_none(), "read before");
    taken
}

/// A stream of these batches, and the number of arrays released so far.
pub(crate) fn stream(field: Field, batches: Vec<Given>) -> (Stream, Arc<AtomicUsize>) {
    let released = Arc::<AtomicUsize>::default();
    let source = Box::new(Source { field, batches: batches.into_iter(), released: released.clone() });
    let mut made = Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(last_error),
        release: Some(free_stream),
        private_data: Box::into_raw(source).cast(),
    };
    let address = NonNull::from(&mut made).cast();
    // SAFETY: it is a stream, and nobody else has it.
    let taken = unsafe { Stream::take(address) }.unwrap();
    // SAFETY: as above.
    assert!(unsafe { Stream::take(address) }.is_none(), "read before");
    (taken, released)
}
