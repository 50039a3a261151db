// Forms: log f(x | k) of a term, from the few numbers that its family comes down to. A number of
// null is of a column that says nothing.
const BIG = 1e150; // its square is still a number
const FAR = 1e300;

const forms = {
  // A - B log(1 + s^2 (x - mu)^2)
  students(t, k, x) {
    if (t.A[k] === null) return 0;
    const half = Math.abs(0.5 * x - 0.5 * t.mu[k]); // halves, so that no difference overflows
    const z = 2 * (half * t.s[k]);
    return t.A[k] - t.B[k] * (z > BIG ? 2 * (Math.log(half) + Math.log(t.s[k]) + Math.LN2) : Math.log1p(z * z));
  },
  // A - B (x - mu)^2
  quadratics(t, k, x) {
    if (t.A[k] === null || t.mu[k] === null) return 0;
    const z = Math.min(Math.abs(0.5 * x - 0.5 * t.mu[k]) * Math.sqrt(8 * t.B[k]), BIG);
    return t.A[k] - 0.5 * z * z;
  },
  // straight lines between knots, flat beyond
  pieces(t, k, x) {
    const knots = t.knots, values = t.values[k];
    let a = 0, b = knots.length - 1;
    if (!(x > knots[a])) return values[a];
    if (x >= knots[b]) return values[b];
    while (b - a > 1) {
      const middle = (a + b) >> 1;
      if (knots[middle] <= x) a = middle; else b = middle;
    }
    const part = (0.5 * x - 0.5 * knots[a]) / (0.5 * knots[b] - 0.5 * knots[a]);
    return values[a] + part * (values[b] - values[a]);
  },
  // x is the place of a category; the last is for all others
  table: (t, k, x) => t.values[k][x],
  line(t, k, x) {
    const far = FAR / Math.max(1, ...t.b.map(Math.abs));
    return t.a[k] + t.b[k] * Math.max(-far, Math.min(far, x));
  },
  counts(t, k, x) {
    if (x < 0) return 0;
    const count = Math.min(FAR, x), rising = t.r === undefined ? 0 : logGamma(count + t.r) - logGamma(t.r);
    return t.a[k] + t.b[k] * count + rising - logGamma(count + 1);
  },
};

// Forms of functions of x; one without a value adds nothing.
forms.functions = (t, k, x) => t.parts.reduce((sum, part) => {
  const value = functions[part.of](x, part.period);
  return value === null ? sum : sum + forms[part.form](part, k, value);
}, 0);

const isShare = (x) => x > 0 && x < 1;
const isNear = (x, period) => Math.abs(x) <= 1e9 * period;
const functions = {
  positive: (x) => (x > 0 ? x : null),
  not_negative: (x) => (x >= 0 ? x : null),
  log: (x) => (x > 0 ? Math.log(x) : null),
  log_share: (x) => (isShare(x) ? Math.log(x) : null),
  log_rest: (x) => (isShare(x) ? Math.log1p(-x) : null),
  cos: (x, period) => (isNear(x, period) ? Math.cos((x * 2 * Math.PI) / period) : null),
  sin: (x, period) => (isNear(x, period) ? Math.sin((x * 2 * Math.PI) / period) : null),
};

// log Gamma(x) for x > 0, by Stirling's series from 8 on.
function logGamma(x) {
  let rising = 1;
  for (; x < 8; ++x) rising *= x;
  const r = 1 / x, r2 = r * r;
  const series = r * (1 / 12 + r2 * (-1 / 360 + r2 * (1 / 1260 + r2 * (-1 / 1680 + r2 * (1 / 1188 - r2 * 691 / 360360)))));
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - Math.log(rising);
}
