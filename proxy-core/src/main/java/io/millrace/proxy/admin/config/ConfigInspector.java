package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.key.ConfigKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the configuration, the sources of its values, and its history. Thread-safe. */
public interface ConfigInspector {
    /**
     * Returns keys with their values.
     *
     * @param names keys, sections, or lists with the keys of their elements; empty for all keys with a value
     * @throws AdminException 400 when there is no such key; the message suggests a similar key
     */
    List<KeyValue> settings(List<String> names) throws AdminException;

    /**
     * Returns the differences from the defaults, and the changes that a reload of the file would make. Reads files, so
     * the caller must be on a thread that may block.
     */
    DiffReport diff();

    /**
     * Returns the differences between two entries of the history. Reads files, so the caller must be on a thread that
     * may block.
     *
     * @throws AdminException 400 when there is no such entry, 409 when one of them is not a valid configuration for
     *     this version
     */
    DiffReport diff(int from, int to) throws AdminException;

    /** Returns the applied configurations, oldest first. Called on a thread that may block. */
    List<Entry> history();

    /** The source of a value. */
    enum Source {
        /** The default. */
        DEFAULT,
        /** The file or an included file. */
        FILE,
        /** An option of {@code run}. */
        COMMAND_LINE,
        /** The command {@code millctl config set}. */
        OVERLAY
    }

    /**
     * A key with its present value. Immutable.
     *
     * @param key the key, from the catalogue of all keys
     * @param value the value as in a file; null for none, and for keys of list elements
     * @param source source of the value
     * @param place place such as {@code millrace.yaml:12:3}; empty for a default
     * @param variables environment variables in the value
     * @param under the value in the file that the overlay ({@code millctl config set}) overrides; null if the source is
     *     not the overlay
     * @param inUse the value in use until a restart of the launcher, if it differs; else null
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
     * @param before the earlier value as in a file; null for none
     * @param after the later value as in a file; null for none
     * @param source source of {@code after}
     * @param place place of {@code after}; empty for none
     * @param variables environment variables in {@code after}
     * @param change how the change is applied
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
     * Differences with notes. Immutable.
     *
     * @param differences differences in the order of the catalogue of keys
     * @param pending changes that a reload of the present file would make
     * @param notes notes of one sentence each
     */
    record DiffReport(List<Difference> differences, List<Difference> pending, List<String> notes) {}

    /**
     * A configuration that was applied. Immutable.
     *
     * @param number ascending number, never used again
     * @param at time, ISO 8601 in UTC
     * @param by cause: start, reload, set, reset, rollback to N
     * @param file the file, or another source
     * @param overlay keys that override the file
     * @param changed changed keys
     * @param isRunning whether it is in use
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
