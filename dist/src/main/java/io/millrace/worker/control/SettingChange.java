package io.millrace.worker.control;

/**
 * The outcome of the change of one setting. Immutable.
 *
 * @param key dotted name of the setting; {@code *} for all settings
 * @param result {@code applied} (in force now), {@code rolled} (in force in a new worker), {@code rejected}, or
 *     {@code relaunch} (in force after a restart of the launcher)
 * @param detail explanation in one sentence; may be empty
 */
public record SettingChange(String key, String result, String detail) {}
