package io.millrace.worker.control;

import io.millrace.proxy.config.ConfigLoader;
import io.millrace.proxy.config.ConfigResult;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A configuration as text, so that launcher and worker read the same bytes with the same loader even when the file
 * changes in between. Immutable.
 *
 * @param name what problems are reported against: the file's path, or {@link #COMMAND_LINE}
 * @param directory where relative paths in it start
 * @param text YAML
 * @param overrides the settings of {@code --set}, dotted key to value
 */
public record ConfigSource(String name, Path directory, String text, Map<String, String> overrides) {
    public ConfigSource {
        overrides = Map.copyOf(overrides);
    }

    /** What a configuration is called that options made. */
    public static final String COMMAND_LINE = "command line";

    /** The file that the text came from; null when options made it. */
    public @Nullable Path file() {
        return name.equals(COMMAND_LINE) ? null : Path.of(name);
    }

    /** Reads and checks the text. */
    public ConfigResult load() {
        return ConfigLoader.parse(text, name, directory, overrides);
    }
}
