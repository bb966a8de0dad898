package io.millrace.proxy.config.extension;

import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ExtensionJar;
import io.millrace.proxy.config.key.OnError;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One extension of the configuration. Immutable.
 *
 * @param name the name in logs, metrics and Cache-Status
 * @param jar the file with the code; null for code of the embedding application
 * @param className the class; null for the only extension of the jar, or for an object of the embedding application
 * @param onError the result of a failed call; null for the default of the hook
 * @param deadline the time limit of asynchronous calls of hooks
 * @param config the settings of the extension itself
 * @param place file, line and column of the element; empty if unknown
 */
public record ExtensionSettings(
        String name,
        @Nullable ExtensionJar jar,
        @Nullable String className,
        @Nullable OnError onError,
        Duration deadline,
        ConfigTree config,
        String place) {
    /** The pattern of valid names. */
    public static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    /**
     * Returns the settings of an extension without an element in the configuration.
     *
     * @param name letters, digits, '-' and '_', at most 64
     * @throws IllegalArgumentException if the name is not valid
     */
    public static ExtensionSettings named(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "'" + name + "' is not a name of an extension; it has 1 to 64 letters, digits, '-' and '_'");
        }
        return of(ConfigValues.builder().set(ExtensionKeys.NAME, name).build());
    }

    static ExtensionSettings of(ConfigValues element) {
        ConfigTree config = element.find(ExtensionKeys.CONFIG);
        String position = element.filePosition();
        return new ExtensionSettings(
                element.get(ExtensionKeys.NAME),
                element.find(ExtensionKeys.JAR),
                element.find(ExtensionKeys.CLASS),
                element.find(ExtensionKeys.ON_ERROR),
                element.get(ExtensionKeys.DEADLINE),
                config == null ? ConfigTree.EMPTY : config,
                position == null ? "" : position);
    }
}
