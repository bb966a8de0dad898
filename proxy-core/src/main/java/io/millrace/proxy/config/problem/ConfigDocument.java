package io.millrace.proxy.config.problem;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The text of a configuration file and of its included files. Every reader of the document gets the same text, even if
 * the files have changed since. Immutable.
 *
 * @param name name in problems, such as the path of the file
 * @param directory base of relative paths, absolute
 * @param text YAML
 * @param included text of each included file by name, in reading order
 */
public record ConfigDocument(String name, Path directory, String text, Map<String, String> included) {
    /** Limit of bytes of the file and its included files together. A hundred thousand rules need half of it. */
    public static final int LENGTH_MAX = 16 << 20;

    /** Copies the map; keeps its order. */
    public ConfigDocument {
        included = Collections.unmodifiableMap(new LinkedHashMap<>(included));
    }
}
