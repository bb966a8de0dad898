package io.millrace.proxy.config.problem;

import java.util.List;

/**
 * Where a key was set. Immutable.
 *
 * @param text {@code millrace.yaml:12:3}, {@code --set KEY} or {@code config set KEY}
 * @param variables of the environment whose values are part of it, in the order of their names; of a list, in any of its elements
 */
public record SettingPlace(String text, List<String> variables) {
    /** Begins the place of what was set while running. */
    public static final String OVERLAY = "config set ";

    /** Copies the list. */
    public SettingPlace {
        variables = List.copyOf(variables);
    }
}
