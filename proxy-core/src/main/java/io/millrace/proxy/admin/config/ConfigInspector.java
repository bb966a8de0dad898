package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.key.ConfigKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Says what is configured, where each value comes from, and what was configured before. Thread-safe. */
public interface ConfigInspector {
    /**
     * Keys with their values.
     *
     * @param names keys, sections, or lists, whose elements' keys come along; none for all that have a value of their own
     * @throws AdminException 400 when there is no such key; the message says what may have been meant
     */
    List<KeyValue> settings(List<String> names) throws AdminException;

    /** What differs from the defaults, and what a reload would change. Reads files: called on a thread that may block. */
    DiffReport diff();

    /**
     * What differs between two entries of the history. Reads files: called on a thread that may block.
     *
     * @throws AdminException 400 when there is no such entry, 409 when one is no valid configuration today
     */
    DiffReport diff(int from, int to) throws AdminException;

    /** The applied configurations that are kept, oldest first. Called on a thread that may block. */
    List<Entry> history();

    /** Where a value comes from. */
    enum Source {
        /** Nobody has set it. */
        DEFAULT,
        /** The file, or one that it includes. */
        FILE,
        /** An option of {@code run}. */
        COMMAND_LINE,
        /** {@code config set}. */
        OVERLAY
    }

    /**
     * A key and its value now. Immutable.
     *
     * @param key the catalogue's entry
     * @param value as it would be written; null when there is none, and for keys of a list's elements
     * @param source where it comes from
     * @param place such as {@code millrace.yaml:12:3}, empty for a default
     * @param variables of the environment that the value, or a part of it, was taken from
     * @param under the value that the file gives, where the source is the overlay; else null
     * @param inUse the value that is in use until the launcher is started again, where that is another one; else null
     */
    record KeyValue(
            ConfigKey<?> key,
            @Nullable String value,
            Source source,
            String place,
            List<String> variables,
            @Nullable String under,
            @Nullable String inUse) {}

    /**
     * A key with two values. Immutable.
     *
     * @param key full path
     * @param before as it would be written; null for none
     * @param after as it would be written; null for none
     * @param source where {@code after} comes from
     * @param place of {@code after}; empty when it has none
     * @param variables of the environment that {@code after} was taken from
     * @param change live, rolling or relaunch
     */
    record Difference(
            String key,
            @Nullable String before,
            @Nullable String after,
            Source source,
            String place,
            List<String> variables,
            ConfigKey.Apply change) {}

    /**
     * Differences, and what else there is to know. Immutable.
     *
     * @param differences in the order of the catalogue
     * @param pending what a reload of the file, as it is now, would change
     * @param notes a sentence each
     */
    record DiffReport(List<Difference> differences, List<Difference> pending, List<String> notes) {}

    /**
     * A configuration that was applied. Immutable.
     *
     * @param number rises with each; never used again
     * @param at ISO 8601, UTC
     * @param by what applied it: start, reload, set, reset, rollback to N
     * @param file the file it came from, or how else
     * @param overlay keys that were set over it
     * @param changed keys that it changed
     * @param isRunning whether it runs now
     */
    record Entry(
            int number,
            String at,
            String by,
            String file,
            List<String> overlay,
            List<String> changed,
            boolean isRunning) {}
}
