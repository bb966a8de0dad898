package io.millrace.proxy.config.problem;

import java.util.List;

/**
 * The place where a key was set. Immutable.
 *
 * @param text {@code millrace.yaml:12:3}, {@code --set KEY} or {@code config set KEY}
 * @param variables names of the environment variables that the value contains, sorted; for a list, those of all
 *     elements
 */
public record SettingPlace(String text, List<String> variables) {
    /** Prefix of the place of a value that was set at run time. */
    public static final String OVERLAY = "config set ";

    /** Copies the list. */
    public SettingPlace {
        variables = List.copyOf(variables);
    }
}
