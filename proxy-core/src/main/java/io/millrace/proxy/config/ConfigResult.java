package io.millrace.proxy.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What loading gave. Immutable.
 *
 * @param config the configuration; null when there is at least one error
 * @param problems errors and warnings, in the order of the file
 */
public record ConfigResult(@Nullable ProxyConfig config, List<ConfigProblem> problems) {
    /** Whether the configuration can be used. */
    public boolean isOk() {
        return config != null;
    }

    /** All problems, one line each. */
    public String text() {
        return String.join("\n", problems.stream().map(ConfigProblem::text).toList());
    }
}
