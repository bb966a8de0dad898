package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.problem.SettingPlace;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of loading a configuration. Immutable.
 *
 * @param config the configuration; null if there is at least one error
 * @param problems errors and warnings, in the order of the file
 * @param places where each key outside of list elements was set
 * @param document the text that was read; null if there is no file or it could not be read
 */
public record ConfigResult(
        @Nullable ProxyConfig config,
        List<ConfigProblem> problems,
        Map<String, SettingPlace> places,
        @Nullable ConfigDocument document) {

    /** Returns true if the configuration can be used. */
    public boolean isOk() {
        return config != null;
    }

    /** Returns all problems, one per line. */
    public String text() {
        return String.join("\n", problems.stream().map(ConfigProblem::text).toList());
    }
}
