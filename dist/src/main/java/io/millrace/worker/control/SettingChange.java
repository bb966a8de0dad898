package io.millrace.worker.control;

/**
 * The outcome of one changed setting. Immutable.
 *
 * @param key dotted name in the catalogue
 * @param result {@code applied}, {@code rolled}, {@code rejected} or {@code relaunch}
 * @param detail one sentence; may be empty
 */
public record SettingChange(String key, String result, String detail) {}
