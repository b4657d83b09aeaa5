// The timeline of segments as a figure that zooms. Without JavaScript, and on paper, the one beneath it stands.
for (const timeline of document.querySelectorAll(".timeline")) {
  const zoomable = timeline.querySelector(".zoomable");
  const still = timeline.querySelector(".static");
  const place = zoomable.querySelector(".plot");
  const data = JSON.parse(zoomable.querySelector("script").textContent);
  const whole = { min: data[0][0], max: data[0][data[0].length - 1] };
  let plot = null;

  const inWords = (value) => {
    if (value == null) return "–";
    const [scale, unit] = value >= 1 || value === 0 ? [1, "s"] : value >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
    return parseFloat((value * scale).toPrecision(4)) + " " + unit;
  };
  const shownRange = () => plot ? { min: plot.scales.x.min, max: plot.scales.x.max } : whole;

  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const shown = shownRange();
    plot?.destroy();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line") }, ticks: { stroke: colour("--line") } };
    const value = (_, v) => inWords(v);
    const undisturbed = { stroke: colour("--undisturbed"), width: 2, value,
      points: { show: true, size: 4, fill: colour("--undisturbed") } };
    plot = new uPlot({
      width: place.clientWidth,
      height: place.clientWidth < 600 ? 240 : 320,
      // Room beneath, so that what lies on the lower edge is seen.
      scales: { x: { time: false }, y: { distr: 3, range: (_, low, high) => [low / 2, high * 2] } },
      axes: [
        { ...axis, values: (_, marks) => marks.map(inWords) },
        { ...axis, size: 74, values: (_, marks) => marks.map((mark) => mark == null ? "" : inWords(mark)) },
      ],
      series: [
        { label: "from", value },
        { label: "shortest undisturbed", ...undisturbed },
        { label: "longest undisturbed", ...undisturbed },
        { label: "longest disturbed", stroke: colour("--disturbed"), paths: () => null,
          points: { show: true, size: 6, fill: colour("--disturbed") }, value },
      ],
      bands: [{ series: [2, 1], fill: colour("--undisturbed") + "55" }],
    }, data, place);
    plot.setScale("x", shown);
  };

  zoomable.hidden = false;
  still.style.display = "none";
  draw();
  zoomable.querySelector("button").addEventListener("click", () => plot.setScale("x", whole));
  new ResizeObserver(() => { if (place.clientWidth && place.clientWidth !== plot.width) draw(); }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
