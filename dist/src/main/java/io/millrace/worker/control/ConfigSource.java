package io.millrace.worker.control;

import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A configuration as text, which the launcher reads from files once and sends to workers. So launcher and worker load
 * the same configuration even if the files change meanwhile. Immutable.
 *
 * @param document the file with its included files; its name is the path of the file, or {@link #COMMAND_LINE}
 * @param overrides the settings of {@code --set}, by dotted key
 * @param overlay the settings of {@code millctl config set} that are not in the file, by dotted key; they override all
 *     others
 */
public record ConfigSource(ConfigDocument document, Map<String, String> overrides, Map<String, String> overlay) {
    public ConfigSource {
        overrides = Map.copyOf(overrides);
        overlay = Map.copyOf(overlay);
    }

    /** Name of a configuration that was built from options. */
    public static final String COMMAND_LINE = "command line";

    /** The name of the configuration in problem reports. */
    public String name() {
        return document.name();
    }

    /** The path of the file; null if the configuration was built from options. */
    public @Nullable Path file() {
        return name().equals(COMMAND_LINE) ? null : Path.of(name());
    }

    /** Returns a copy with another overlay. */
    public ConfigSource withOverlay(Map<String, String> changed) {
        return new ConfigSource(document, overrides, changed);
    }

    /** Parses a configuration that the launcher has checked. */
    public ConfigResult loadChecked() {
        return ConfigLoader.parseChecked(document, overrides, overlay);
    }

    /** Parses and checks the configuration. */
    public ConfigResult load() {
        return ConfigLoader.parse(document, overrides, overlay);
    }
}
