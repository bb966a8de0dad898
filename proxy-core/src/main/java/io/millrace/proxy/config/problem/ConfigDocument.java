package io.millrace.proxy.config.problem;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The text of a configuration file and of its included files. Every reader of the document gets the same text, even if
 * the files have changed since. Immutable.
 *
 * @param name name in problems, such as the path of the file
 * @param directory base of relative paths, absolute
 * @param text YAML
 * @param included text of each included file by name, in reading order; and of the configuration that the fleet has
 *     pushed, under the name {@link #PUSHED} and its revision
 */
public record ConfigDocument(String name, Path directory, String text, Map<String, String> included) {
    /** Limit of bytes of the file and its included files together. A hundred thousand rules need half of it. */
    public static final int LENGTH_MAX = 16 << 20;

    /** Copies the map; keeps its order. */
    public ConfigDocument {
        included = Collections.unmodifiableMap(new LinkedHashMap<>(included));
    }

    /**
     * Prefix of the name of a pushed configuration. The command {@code fleet config push} has sent it to the nodes of a
     * fleet. No file has such a name, because paths have no double slash.
     */
    public static final String PUSHED = "fleet://config/";

    /** Returns the name of the pushed configuration in this document; null if there is no pushed configuration. */
    public @Nullable String pushedName() {
        for (String file : included.keySet()) {
            if (file.startsWith(PUSHED)) {
                return file;
            }
        }
        return null;
    }

    /**
     * Returns a copy with another pushed configuration.
     *
     * @param pushed null for none
     */
    public ConfigDocument withPushed(@Nullable Pushed pushed) {
        Map<String, String> files = new LinkedHashMap<>(included);
        files.keySet().removeIf(file -> file.startsWith(PUSHED));
        if (pushed != null) {
            files.put(pushed.name(), pushed.text());
        }
        return new ConfigDocument(name, directory, text, files);
    }

    /**
     * A pushed configuration. Immutable.
     *
     * @param revision its number, at least 1
     * @param text YAML
     */
    public record Pushed(long revision, String text) {
        /** Returns the name in problems and in {@link ConfigDocument#included}. */
        public String name() {
            return PUSHED + revision;
        }
    }
}
