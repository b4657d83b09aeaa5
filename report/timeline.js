// The timeline of segments as a figure that zooms. The static figure below it serves without JavaScript and on paper.
for (const timeline of document.querySelectorAll(".timeline")) {
  const zoomable = timeline.querySelector(".zoomable");
  const still = timeline.querySelector(".static");
  const place = zoomable.querySelector(".plot");
  const data = JSON.parse(zoomable.querySelector("script").textContent);
  const shaded = JSON.parse(place.dataset.shaded);
  const whole = { min: data[0][0], max: data[0][data[0].length - 1] };
  let plot = null;

  const unitOf = (value) => value >= 1 || value === 0 ? [1, "s"] : value >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  const inWords = (value, [scale, unit] = unitOf(value)) => parseFloat((value * scale).toPrecision(4)) + " " + unit;
  const shownRange = () => plot ? { min: plot.scales.x.min, max: plot.scales.x.max } : whole;

  // As in the static figure: a stroke from the shortest to the longest segment of a moment, and a triangle above the
  // longest disturbed one.
  const marks = (draw) => (chart, series, first, last) => {
    const path = new Path2D();
    for (let i = first; i <= last; ++i) {
      if (data[series][i] == null) continue;
      const y = (value) => chart.valToPos(value, "y", true);
      draw(path, chart.valToPos(data[0][i], "x", true), y(data[series][i]), y(data[series - 1][i]));
    }
    return { stroke: path, fill: path };
  };
  const breadth = data[0].length < 200 ? 5 : 2;  // few strokes must be visible, many must stay apart
  const stroke = (path, x, longest, shortest) => {
    path.moveTo(x, longest - breadth / 2 * devicePixelRatio);
    path.lineTo(x, Math.max(shortest, longest + breadth / 2 * devicePixelRatio));
  };
  const triangle = (path, x, y) => {
    const size = 4 * devicePixelRatio;
    path.moveTo(x, y);
    path.lineTo(x + size, y - 1.7 * size);
    path.lineTo(x - size, y - 1.7 * size);
    path.closePath();
  };
  // Powers of ten; if they are few, also two and five times each.
  const decades = (_, __, low, high) => {
    const list = [];
    const factors = Math.log10(high / low) < 2 ? [1, 2, 5] : [1];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power) {
      list.push(...factors.map((factor) => factor * 10 ** power).filter((mark) => mark >= low && mark <= high));
    }
    return list;
  };

  // Start-up, end and changes of level are shaded, as in the static figure.
  const shades = { startup: "--startup", slower: "--band-red", faster: "--band-green" };
  const shade = (colour) => (chart) => {
    const { left, top, width, height } = chart.bbox;
    for (const [from, to, kind] of shaded) {
      const [begin, end] = [from, to].map((time) => Math.min(Math.max(chart.valToPos(time, "x", true), left),
                                                             left + width));
      chart.ctx.fillStyle = colour(shades[kind]);
      chart.ctx.fillRect(begin, top, end - begin, height);
    }
  };

  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const shown = shownRange();
    plot?.destroy();
    const grid = { stroke: colour("--line"), width: 1 };
    const axis = { stroke: colour("--soft"), grid, ticks: grid };
    const common = { points: { show: false }, value: (_, value) => value == null ? "–" : inWords(value) };
    const undisturbed = { ...common, stroke: colour("--undisturbed"), width: breadth };
    plot = new uPlot({
      width: place.clientWidth,
      height: place.clientWidth < 600 ? 240 : 320,
      hooks: { drawClear: [shade(colour)] },
      // Room below, so that what lies on the lower edge is visible.
      scales: { x: { time: false }, y: { distr: 3, range: (_, low, high) => [low / 2, high * 2] } },
      axes: [
        { ...axis, values: (chart, list) => list.map((mark) => inWords(mark, unitOf(chart.scales.x.max))) },
        { ...axis, size: 74, splits: decades, filter: (_, list) => list,
          values: (_, list) => list.map((mark) => inWords(mark)) },
      ],
      series: [
        { label: "from", value: common.value },
        { ...undisturbed, label: "shortest undisturbed", paths: () => null },
        { ...undisturbed, label: "longest undisturbed", paths: marks(stroke) },
        { ...common, label: "longest disturbed", stroke: colour("--disturbed"), fill: colour("--disturbed"), width: 0,
          paths: marks(triangle) },
      ],
    }, data, place);
    plot.setScale("x", shown);
    // Until the reader points at something, the legend shows the longest segment. uPlot empties the legend after
    // drawing, so it is set afterwards.
    const longest = data[0].map((_, i) => Math.max(data[2][i] ?? 0, data[3][i] ?? 0));
    const drawn = plot;
    queueMicrotask(() => drawn.setLegend({ idx: longest.indexOf(longest.reduce((a, b) => Math.max(a, b), 0)) }));
  };

  zoomable.hidden = false;
  still.style.display = "none";
  draw();
  // How far the shown range moves, in shares of its width, and the factor of its width.
  const moves = { earlier: [-0.5, 1], later: [0.5, 1], closer: [0, 0.5], wider: [0, 2], whole: [0, Infinity] };
  for (const button of zoomable.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const { min, max } = shownRange();
      const [step, factor] = moves[button.value];
      const width = factor * (max - min);
      const middle = (min + max) / 2 + step * (max - min);
      if (width >= 0.999 * (whole.max - whole.min)) return plot.setScale("x", whole);
      const from = Math.max(whole.min, Math.min(middle - width / 2, whole.max - width));
      plot.setScale("x", { min: from, max: from + width });
    });
  }
  new ResizeObserver(() => { if (place.clientWidth && place.clientWidth !== plot.width) draw(); }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
