package io.millrace.worker.control;

import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A configuration as text, so that launcher and worker read the same bytes with the same loader even when the files
 * change in between. Immutable.
 *
 * @param document the file and what it includes; its name is the file's path, or {@link #COMMAND_LINE}
 * @param overrides the settings of {@code --set}, dotted key to value
 * @param overlay what was set while running, over both
 */
public record ConfigSource(ConfigDocument document, Map<String, String> overrides, Map<String, String> overlay) {
    public ConfigSource {
        overrides = Map.copyOf(overrides);
        overlay = Map.copyOf(overlay);
    }

    /** What a configuration is called that options made. */
    public static final String COMMAND_LINE = "command line";

    /** What problems are reported against. */
    public String name() {
        return document.name();
    }

    /** The file that the text came from; null when options made it. */
    public @Nullable Path file() {
        return name().equals(COMMAND_LINE) ? null : Path.of(name());
    }

    /** This source with other settings over it. */
    public ConfigSource withOverlay(Map<String, String> changed) {
        return new ConfigSource(document, overrides, changed);
    }

    /** Reads and checks the text. */
    public ConfigResult load() {
        return ConfigLoader.parse(document, overrides, overlay);
    }
}
