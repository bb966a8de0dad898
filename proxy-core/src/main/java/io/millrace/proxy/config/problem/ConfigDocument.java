package io.millrace.proxy.config.problem;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A configuration file and the files that it includes, as they were read: whoever is handed it reads the same bytes, even
 * when the files have changed since. Immutable.
 *
 * @param name what problems are reported against, such as the file's path
 * @param directory where relative paths in it start, absolute
 * @param text YAML
 * @param included text by name, in the order in which they are read
 */
public record ConfigDocument(String name, Path directory, String text, Map<String, String> included) {
    /** Bytes that the file and what it includes may have together: a hundred thousand rules have half of it. */
    public static final int LENGTH_MAX = 16 << 20;

    /** Copies the map, in its order. */
    public ConfigDocument {
        included = Collections.unmodifiableMap(new LinkedHashMap<>(included));
    }
}
