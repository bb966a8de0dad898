// Numbers, sizes and times as text.

const NUMBER = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
export const NONE = '–';

export function count(value) {
  return value === null || value === undefined || Number.isNaN(value) ? NONE : NUMBER.format(value);
}

/** At most one decimal, and none above 100. */
function tenths(value) {
  return value >= 100 ? NUMBER.format(value) : value.toFixed(1).replace(/\.0$/, '');
}

export function bytes(value) {
  if (value === null || value === undefined || Number.isNaN(value) || value < 0) {
    return NONE;
  }
  let unit = 0;
  let size = value;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return (unit === 0 ? NUMBER.format(size) : tenths(size)) + ' ' + UNITS[unit];
}

export function rate(value) {
  return value === null || value === undefined || Number.isNaN(value) ? NONE : tenths(value) + '/s';
}

export function byteRate(value) {
  return value === null || value === undefined || Number.isNaN(value) ? NONE : bytes(value) + '/s';
}

export function percent(part, whole) {
  return !(whole > 0) ? NONE : (part * 100 / whole).toFixed(1) + '%';
}

/** A time span in seconds, from microseconds to days. */
export function span(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) {
    return NONE;
  }
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? '-' : '';
  if (size === 0) {
    return '0 s';
  }
  if (size < 0.001) {
    return sign + Math.round(size * 1e6) + ' µs';
  }
  if (size < 1) {
    return sign + tenths(size * 1000) + ' ms';
  }
  if (size < 60) {
    return sign + (Number.isInteger(size) ? size : size.toFixed(1)) + ' s';
  }
  const whole = Math.round(size);
  const parts = [
    [Math.floor(whole / 86400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ].filter(([value]) => value > 0);
  return sign + parts.slice(0, 2).map(([value, unit]) => value + ' ' + unit).join(' ');
}

/** Time since a point in time in seconds since 1970, such as "5 s ago". */
export function ago(seconds) {
  return seconds > 0 ? span(Math.max(0, Math.round(Date.now() / 1000 - seconds))) + ' ago' : NONE;
}

let isUtc = localStorage.getItem('millrace-utc') === 'true';

export function usesUtc() {
  return isUtc;
}

export function useUtc(whether) {
  isUtc = whether;
  localStorage.setItem('millrace-utc', String(whether));
}

/** A point in time, given in seconds since 1970 or as ISO 8601 text. */
export function time(value) {
  if (value === null || value === undefined || value === 0 || value === '') {
    return NONE;
  }
  const date = typeof value === 'number' ? new Date(value * 1000) : new Date(value);
  if (Number.isNaN(date.getTime())) {
    return String(value);
  }
  const two = (number) => String(number).padStart(2, '0');
  return isUtc
    ? date.toISOString().slice(0, 19).replace('T', ' ') + ' UTC'
    : date.getFullYear() + '-' + two(date.getMonth() + 1) + '-' + two(date.getDate()) + ' '
      + two(date.getHours()) + ':' + two(date.getMinutes()) + ':' + two(date.getSeconds());
}

/** The part of a day that a time on a chart needs. */
export function clock(seconds) {
  const text = time(seconds);
  return text.slice(11, 19);
}
