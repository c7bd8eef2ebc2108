//! The Arrow C data interface: columns of other libraries, read where they lie in memory.
//!
//! A producer hands over a [`Stream`]; it gives a [`Field`] per column and then batches of [`Array`]s. An array owns what the producer lent and
//! releases it when it is dropped. Nothing is copied here.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface.html>
//!
//! **Safety.** The three `repr(C)` structures are those of the specification. A producer promises, and this file relies on it, that a structure which
//! is not released is filled in as the specification says, that its buffers are as long as format, length and offset demand and are never written
//! to, and that they stay until the release callback, which any one thread may call, once. What a producer can get wrong within that promise is checked before memory is
//! touched: lengths and offsets are not negative and do not overflow, pointers to what is read are not null, children are as many as fields, and
//! offsets of text stay within the last of them (views within the sizes of their buffers). The only unsafe functions that others call are [`Stream::take`] and [`Batch::take`].

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};

/// The flag of dictionaries whose order means something.
const ORDERED: i64 = 1;
/// Longest text that a view holds itself.
const INLINE: usize = 12;
/// Longest column believed: no product with the width of a value overflows.
const LONGEST: usize = isize::MAX as usize / 128;
/// Bytes of a view.
const VIEW: usize = 16;

/// The specification's `ArrowSchema`.
#[repr(C)]
struct RawSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    children_count: i64,
    children: *mut *mut RawSchema,
    dictionary: *mut RawSchema,
    release: Option<unsafe extern "C" fn(*mut RawSchema)>,
    private_data: *mut c_void,
}

/// The specification's `ArrowArray`.
#[repr(C)]
struct RawArray {
    length: i64,
    null_count: i64,
    offset: i64,
    buffer_count: i64,
    children_count: i64,
    buffers: *mut *const c_void,
    children: *mut *mut RawArray,
    dictionary: *mut RawArray,
    release: Option<unsafe extern "C" fn(*mut RawArray)>,
    private_data: *mut c_void,
}

/// A stream of batches: the specification's `ArrowArrayStream`.
#[repr(C)]
pub struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut RawSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut RawArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

// SAFETY: a stream is used through `&mut` only, so its calls follow one another, which is all that the specification asks for.
unsafe impl Send for Stream {}

/// One batch with its type.
pub struct Batch {
    schema: RawSchema,
    array: Option<RawArray>,
}

// SAFETY: as of an array; the schema is read only.
unsafe impl Send for Batch {}

/// Batches that come one after the other.
pub trait Batches: Sealed {
    /// The type of the batches; a sentence where it cannot be told.
    fn field(&mut self) -> Result<Field, String>;
}

/// What a column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type in the specification's letters; of a dictionary the type of the codes.
    pub format: String,
    /// Whether the order of a dictionary means something.
    pub ordered: bool,
    /// The fields inside.
    pub children: Vec<Field>,
    /// The type of what the codes stand for.
    pub dictionary: Option<Box<Field>>,
}

/// How the values of a column lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// No values at all.
    Nothing,
    /// One bit for each.
    Bits,
    /// So many bytes for each.
    Bytes(usize),
    /// Text with offsets of so many bytes (4 or 8).
    Text(usize),
    /// Text as views.
    Views,
}

/// Some rows of one column.
pub(super) struct Array {
    raw: RawArray,
    first: usize,
    length: usize,
}

// SAFETY: nothing is written through an array before its end, buffers are immutable by the producer's promise, and the release callback may
// be called by any one thread.
unsafe impl Send for Array {}
// SAFETY: as above; shared references only read.
unsafe impl Sync for Array {}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Array of {} rows", self.length)
    }
}

impl Drop for RawSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: filled in and not yet released.
            unsafe { release(self) }
        }
    }
}

impl Drop for RawArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: filled in, or moved here from where it was, and not yet released.
            unsafe { release(self) }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as above.
            unsafe { release(self) }
        }
    }
}

impl RawSchema {
    fn empty() -> Self {
        Self {
            format: null(),
            name: null(),
            metadata: null(),
            flags: 0,
            children_count: 0,
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }

    /// A copy of what it says.
    fn field(&self) -> Result<Field, String> {
        let mut children = Vec::new();
        for index in 0..usize::try_from(self.children_count).map_err(|_| "a negative number of columns")? {
            // SAFETY: `children` has that many entries by the producer's promise; a null one is noticed below.
            let child = unsafe { self.children.add(index).read().as_ref() };
            children.push(child.ok_or("a column without a type")?.field()?);
        }
        // SAFETY: null or another schema that lives as long as this one.
        let dictionary = unsafe { self.dictionary.as_ref() };
        Ok(Field {
            name: text(self.name).unwrap_or_default(),
            format: text(self.format).ok_or("a column without a type")?,
            ordered: self.flags & ORDERED != 0,
            children,
            dictionary: dictionary.map(|of| of.field().map(Box::new)).transpose()?,
        })
    }
}

/// The text at an address, if there is one.
fn text(address: *const c_char) -> Option<String> {
    // SAFETY: null, or the beginning of a text that ends with a zero, by the producer's promise.
    (!address.is_null()).then(|| unsafe { CStr::from_ptr(address) }.to_string_lossy().into_owned())
}

/// What only this crate implements.
pub trait Sealed {
    /// The columns of the next batch, of which `field` is the type; `None` after the last. Batches of single columns give one.
    #[doc(hidden)]
    fn next(&mut self, field: &Field) -> Result<Option<Columns>, String>;
}

/// The columns of a batch.
pub struct Columns(pub(super) Vec<Array>);

impl Batch {
    /// Takes a batch and its type over from where their producer left them; `None` where somebody has read them before.
    ///
    /// # Safety
    ///
    /// They point to an `ArrowSchema` and an `ArrowArray` of the specification, of the same type, that nobody else uses meanwhile.
    #[must_use]
    pub unsafe fn take(schema: NonNull<c_void>, array: NonNull<c_void>) -> Option<Self> {
        // SAFETY: the caller's promise; moved as a stream is.
        unsafe {
            let (schema, array) = (schema.cast::<RawSchema>().as_ptr(), array.cast::<RawArray>().as_ptr());
            (*schema).release?;
            (*array).release?;
            let taken = Self { schema: schema.read(), array: Some(array.read()) };
            (&raw mut (*schema).release).write(None);
            (&raw mut (*array).release).write(None);
            Some(taken)
        }
    }
}

impl Batches for Batch {
    fn field(&mut self) -> Result<Field, String> {
        self.schema.field()
    }
}

impl Sealed for Batch {
    fn next(&mut self, field: &Field) -> Result<Option<Columns>, String> {
        self.array.take().map(|array| array.columns(field)).transpose()
    }
}

impl Stream {
    /// Takes the stream over from where its producer left it; `None` where somebody has read it before.
    ///
    /// # Safety
    ///
    /// `from` points to an `ArrowArrayStream` of the specification that nobody else uses meanwhile.
    #[must_use]
    pub unsafe fn take(from: NonNull<c_void>) -> Option<Self> {
        // SAFETY: the caller's promise. The specification has consumers move a structure by copying it and marking the original as released.
        unsafe {
            let original = from.cast::<Self>().as_ptr();
            (*original).release?;
            let taken = original.read();
            (&raw mut (*original).release).write(None);
            Some(taken)
        }
    }

    fn check(&mut self, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the stream is not released, and the last call failed: then the text may be asked for.
        let said = self.get_last_error.and_then(|get| text(unsafe { get(self) }));
        Err(said.unwrap_or_else(|| format!("error {code}")))
    }
}

impl Batches for Stream {
    fn field(&mut self) -> Result<Field, String> {
        let mut schema = RawSchema::empty();
        let get = self.get_schema.ok_or("it has no way to tell its columns")?;
        // SAFETY: the stream is not released; the schema is this function's own.
        let code = unsafe { get(self, &raw mut schema) };
        self.check(code)?;
        schema.field()
    }
}

impl Sealed for Stream {
    fn next(&mut self, field: &Field) -> Result<Option<Columns>, String> {
        let mut batch = RawArray::empty();
        let get = self.get_next.ok_or("it has no way to give its rows")?;
        // SAFETY: the stream is not released; the array is this function's own.
        let code = unsafe { get(self, &raw mut batch) };
        self.check(code)?;
        batch.release.is_some().then(|| batch.columns(field)).transpose()
    }
}

impl RawArray {
    fn empty() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            buffer_count: 0,
            children_count: 0,
            buffers: null_mut(),
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }

    /// The columns of a batch of this type.
    fn columns(mut self, field: &Field) -> Result<Columns, String> {
        let (first, length) = self.extent()?;
        if field.format != "+s" {
            return Ok(Columns(vec![Array { raw: self, first, length }]));
        }
        if self.null_count > 0 {
            return Err("a row that is missing as a whole".into());
        }
        if usize::try_from(self.children_count) != Ok(field.children.len()) {
            return Err("a batch with another number of columns".into());
        }
        let child = |index| self.child(index, first, length);
        Ok(Columns((0..field.children.len()).map(child).collect::<Result<_, _>>()?))
    }

    /// First value and number of values.
    fn extent(&self) -> Result<(usize, usize), String> {
        let whole = |number: i64| usize::try_from(number).ok().filter(|&number| number <= LONGEST);
        whole(self.offset)
            .zip(whole(self.length))
            .ok_or_else(|| format!("{} rows from {} on", self.length, self.offset))
    }

    /// Moves a child out; rows `first..first + length` of it are those of the batch.
    fn child(&mut self, index: usize, first: usize, length: usize) -> Result<Array, String> {
        // SAFETY: the entry exists (the caller compared the number), and children may be moved out by copying and marking the original; the
        // producer's callback for the batch then leaves them alone.
        let raw = unsafe {
            let child = self.children.add(index).read();
            if child.is_null() || (*child).release.is_none() {
                return Err("a column without values".into());
            }
            let raw = child.read();
            (&raw mut (*child).release).write(None);
            raw
        };
        let (offset, there) = raw.extent()?;
        if there < first + length {
            return Err(format!("a column of {there} rows in a batch of {}", first + length));
        }
        Ok(Array { raw, first: offset + first, length })
    }

    /// The address of a buffer; null where there is none.
    fn buffer(&self, index: usize) -> *const u8 {
        if self.buffers.is_null() || usize::try_from(self.buffer_count).is_ok_and(|count| index >= count) {
            return null();
        }
        // SAFETY: `buffers` has `buffer_count` entries.
        unsafe { self.buffers.add(index).read().cast() }
    }
}

impl Array {
    /// The rows, laid out like this.
    pub(super) fn view(&self, layout: Layout) -> Result<View<'_>, String> {
        View::new(&self.raw, layout, self.first, self.length)
    }

    /// What the codes stand for, laid out like this.
    pub(super) fn dictionary(&self, layout: Layout) -> Result<View<'_>, String> {
        // SAFETY: null, or an array that lives as long as this one.
        let raw = unsafe { self.raw.dictionary.as_ref() }.ok_or("codes without the values they stand for")?;
        let (first, length) = raw.extent()?;
        View::new(raw, layout, first, length)
    }
}

/// Values that can be read.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    raw: &'a RawArray,
    layout: Layout,
    first: usize,
    length: usize,
    /// One bit per value, 0 where it is missing.
    valid: Option<&'a [u8]>,
    /// Values, offsets or views.
    main: &'a [u8],
}

impl<'a> View<'a> {
    fn new(raw: &'a RawArray, layout: Layout, first: usize, length: usize) -> Result<Self, String> {
        let end = first + length;
        let width = |bytes: usize| end * bytes;
        let (buffers, bytes) = match layout {
            Layout::Nothing => return Ok(Self { raw, layout, first, length, valid: None, main: &[] }),
            Layout::Bits => (2, end.div_ceil(8)),
            Layout::Bytes(bytes) => (2, width(bytes)),
            Layout::Text(bytes) => (3, width(bytes) + bytes),
            Layout::Views => (3, width(VIEW)),
        };
        if raw.buffer_count < buffers {
            return Err(format!("{} buffers where {buffers} are needed", raw.buffer_count));
        }
        let (bitmap, address) = (raw.buffer(0), raw.buffer(1));
        if length > 0 && address.is_null() {
            return Err("values without memory".into());
        }
        // SAFETY: addresses are not null, and the buffers have these lengths by the producer's promise (see the head of the file); `extent` keeps them below `isize::MAX`.
        let (valid, main) = unsafe {
            let valid = (raw.null_count != 0 && !bitmap.is_null() && length > 0)
                .then(|| std::slice::from_raw_parts(bitmap, end.div_ceil(8)));
            (valid, if length == 0 { &[][..] } else { std::slice::from_raw_parts(address, bytes) })
        };
        Ok(Self { raw, layout, first, length, valid, main })
    }

    /// Rows.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Whether there may be missing values.
    pub(super) fn may_miss(&self) -> bool {
        self.valid.is_some() || self.layout == Layout::Nothing
    }

    /// Whether the value of a row is missing.
    pub(super) fn misses(&self, row: usize) -> bool {
        let at = self.first + row;
        self.layout == Layout::Nothing || self.valid.is_some_and(|valid| valid[at / 8] >> (at % 8) & 1 == 0)
    }

    /// The bit of a row.
    pub(super) fn bit(&self, row: usize) -> bool {
        let at = self.first + row;
        self.main[at / 8] >> (at % 8) & 1 == 1
    }

    /// The bytes of the values of some rows, `width` for each.
    pub(super) fn bytes(&self, rows: std::ops::Range<usize>, width: usize) -> &'a [u8] {
        &self.main[(self.first + rows.start) * width..(self.first + rows.end) * width]
    }

    /// The bytes of the text of a row; `None` where offsets contradict each other.
    pub(super) fn text(&self, row: usize) -> Option<&'a [u8]> {
        match self.layout {
            Layout::Text(width) => {
                let offset = |at: usize| whole(&self.main[at * width..(at + 1) * width]);
                let (start, end) = (offset(self.first + row)?, offset(self.first + row + 1)?);
                let last = offset(self.first + self.length)?;
                self.part(2, (start, end), last)
            }
            Layout::Views => {
                let view = self.bytes(row..row + 1, VIEW);
                let length = whole(&view[..4])?;
                if length <= INLINE {
                    return Some(&view[4..4 + length]);
                }
                let (buffer, start) = (whole(&view[8..12])?, whole(&view[12..])?);
                let variadic = usize::try_from(self.raw.buffer_count).ok()?.checked_sub(3)?;
                let sizes = self.raw.buffer(2 + variadic);
                if buffer >= variadic || sizes.is_null() {
                    return None;
                }
                // SAFETY: the last buffer holds the size of each variadic one, of which there are more than `buffer`.
                let size = unsafe { std::slice::from_raw_parts(sizes.add(8 * buffer), 8) };
                self.part(2 + buffer, (start, start.checked_add(length)?), whole(size)?)
            }
            _ => None,
        }
    }

    /// Bytes `start..end` of a buffer of `size` bytes.
    fn part(&self, buffer: usize, (start, end): (usize, usize), size: usize) -> Option<&'a [u8]> {
        if start > end || end > size {
            return None;
        }
        if start == end {
            return Some(&[]);
        }
        let address = self.raw.buffer(buffer);
        // SAFETY: not null and within the buffer's size.
        (!address.is_null()).then(|| unsafe { std::slice::from_raw_parts(address.add(start), end - start) })
    }
}

/// A number of 4 or 8 bytes that is not negative.
fn whole(bytes: &[u8]) -> Option<usize> {
    match *bytes {
        [a, b, c, d] => usize::try_from(i32::from_ne_bytes([a, b, c, d])).ok(),
        [a, b, c, d, e, f, g, h] => usize::try_from(i64::from_ne_bytes([a, b, c, d, e, f, g, h])).ok(),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod producer;
