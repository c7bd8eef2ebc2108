"use strict";
// Comfort only: the page is complete without it.
(function () {
  var root = document.documentElement;

  // Sort the table by a column; undefined numbers go last.
  function number(text) {
    var plain = text.replace(/,/g, "").replace("−", "-").replace("> ", "");
    return plain === "" || isNaN(plain) ? null : Number(plain);
  }
  document.querySelectorAll(".scroll table").forEach(function (table) {
    var body = table.tBodies[0];
    var heads = Array.from(table.tHead.rows[0].cells);
    Array.from(body.rows).forEach(function (row, index) { row.dataset.index = index; });
    heads.forEach(function (head, column) {
      function sort() {
        var down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        var rows = Array.from(body.rows).map(function (row) {
          return { row: row, index: Number(row.dataset.index), value: column === 0 ? Number(row.dataset.index) : number(row.cells[column].textContent) };
        });
        rows.sort(function (a, b) {
          if (a.value === null || b.value === null) {
            return (a.value === null) - (b.value === null) || a.index - b.index;
          }
          return (down ? b.value - a.value : a.value - b.value) || a.index - b.index;
        });
        rows.forEach(function (entry) { body.appendChild(entry.row); });
      }
      head.dataset.sort = "";
      head.tabIndex = 0;
      head.addEventListener("click", sort);
      head.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
      });
    });
  });

  // Pick out one chain.
  var picks = Array.from(document.querySelectorAll(".chains [data-series]"));
  picks.forEach(function (pick) {
    function toggle() {
      var on = root.dataset.only !== pick.dataset.series;
      picks.forEach(function (other) { other.setAttribute("aria-pressed", String(on && other === pick)); });
      if (on) { root.dataset.only = pick.dataset.series; } else { delete root.dataset.only; }
    }
    pick.setAttribute("role", "button");
    pick.setAttribute("aria-pressed", "false");
    pick.tabIndex = 0;
    pick.addEventListener("click", toggle);
    pick.addEventListener("keydown", function (event) {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); }
    });
  });

  // Values under the pointer.
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.appendChild(tip);
  function read(place, axis, name) {
    if (!axis) { return ""; }
    var part = axis.split(" ");
    var low = Number(part[0]), high = Number(part[1]), from = Number(part[2]), to = Number(part[3]);
    var share = (place - from) / (to - from);
    if (share < 0 || share > 1) { return null; }
    var value = part[4] === "log" ? low * Math.pow(high / low, share) : low + share * (high - low);
    var text = name === "draw" ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
    return (name ? name + " " : "") + text.replace("-", "−");
  }
  document.querySelectorAll("svg[data-x]").forEach(function (chart) {
    // The browser's own tip would cover ours; readers of the screen keep the words.
    var title = chart.querySelector("title");
    chart.setAttribute("aria-label", title.textContent);
    title.remove();
    function show(event) {
      var box = chart.getBoundingClientRect();
      var unit = chart.viewBox.baseVal.width / box.width;
      var x = read((event.clientX - box.left) * unit, chart.dataset.x, chart.dataset.xn);
      var y = read((event.clientY - box.top) * unit, chart.dataset.y, chart.dataset.yn);
      if (x === null || y === null) { tip.hidden = true; return; }
      tip.textContent = y ? x + " · " + y : x;
      tip.hidden = false;
      var left = Math.min(event.clientX + 14, root.clientWidth - tip.offsetWidth - 4);
      tip.style.left = Math.max(4, left) + "px";
      tip.style.top = Math.max(4, event.clientY - tip.offsetHeight - 10) + "px";
    }
    chart.addEventListener("pointermove", show);
    chart.addEventListener("pointerdown", show);
    chart.addEventListener("pointerleave", function () { tip.hidden = true; });
  });

  // Paper has no folds.
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (fold) { fold.open = true; });
  });
})();
