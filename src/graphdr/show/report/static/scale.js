// Scales from data to pixels, their ticks, and how numbers are spelt.

function linear(low, high, from, to) {
  const span = high - low || 1;
  const scale = (value) => from + ((value - low) / span) * (to - from);
  scale.invert = (pixel) => low + ((pixel - from) / (to - from)) * span;
  scale.ticks = (count) => {
    const rough = span / Math.max(1, count),
      power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((size) => size >= rough * 0.999);
    const ticks = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++)
      ticks.push(Number((n * step).toPrecision(12)));
    return ticks;
  };
  return scale;
}

function logarithmic(low, high, from, to) {
  const inner = linear(Math.log(low), Math.log(high), from, to);
  const scale = (value) => inner(Math.log(Math.max(value, low)));
  scale.invert = (pixel) => Math.exp(inner.invert(pixel));
  scale.ticks = (count) => {
    const all = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      for (let m = 1; m < 10; m++) all.push([m, Number((m * 10 ** power).toPrecision(6))]);
    }
    const inside = all.filter(([, tick]) => tick >= low * 0.9999 && tick <= high * 1.0001);
    const picked = [[1, 2, 5], [1, 3], [1]].map((kept) =>
      inside.filter(([m]) => kept.includes(m)).map(([, tick]) => tick),
    );
    const ticks = picked.find((some) => some.length <= count + 1) ?? picked[2];
    if (ticks.length < 2) return linear(low, high, from, to).ticks(count);
    const every = Math.ceil(ticks.length / (count + 1));
    return ticks.filter((_, place) => place % every === 0);
  };
  return scale;
}

// Nearly linear around zero and logarithmic outside: eigenvectors crowd there and have long tails.
function asinh(low, high, unit, from, to) {
  const inner = linear(Math.asinh(low / unit), Math.asinh(high / unit), from, to);
  const scale = (value) => inner(Math.asinh(value / unit));
  scale.ticks = () => {
    const reach = Math.max(-low, high),
      power = 10 ** Math.floor(Math.log10(reach));
    const top = [5, 2, 1].map((m) => m * power).find((tick) => tick <= reach);
    return [-top, 0, top].filter((tick) => tick >= low && tick <= high);
  };
  return scale;
}

const group = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const count = (value) => group.format(value);

function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(1);
  return (Math.abs(value) >= 1000 ? group.format(value) : String(Number(value.toPrecision(digits)))).replace("-", "−");
}

function extent(values) {
  let low = Infinity,
    high = -Infinity;
  for (const value of values) {
    if (value === null || value === undefined) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}
