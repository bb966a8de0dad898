package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.problem.SettingPlace;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What loading gave. Immutable.
 *
 * @param config the configuration; null when there is at least one error
 * @param problems errors and warnings, in the order of the file
 * @param places where each key was set that is not part of a list's element
 * @param document what was read; null when the file could not be, or there is none
 */
public record ConfigResult(
        @Nullable ProxyConfig config,
        List<ConfigProblem> problems,
        Map<String, SettingPlace> places,
        @Nullable ConfigDocument document) {

    /** Whether the configuration can be used. */
    public boolean isOk() {
        return config != null;
    }

    /** All problems, one line each. */
    public String text() {
        return String.join("\n", problems.stream().map(ConfigProblem::text).toList());
    }
}
