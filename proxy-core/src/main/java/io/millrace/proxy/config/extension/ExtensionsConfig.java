package io.millrace.proxy.config.extension;

import io.millrace.proxy.config.key.ConfigValues;
import java.util.List;

/**
 * The extensions of a configuration. Immutable.
 *
 * @param list the extensions in the order of their calls
 */
public record ExtensionsConfig(List<ExtensionSettings> list) {
    /** Limit of extensions of a configuration. */
    public static final int EXTENSIONS_MAX = 32;

    /** Copies the list. */
    public ExtensionsConfig {
        list = List.copyOf(list);
    }

    /** Reads the extensions of a configuration that was checked. */
    public static ExtensionsConfig from(ConfigValues values) {
        return new ExtensionsConfig(values.elements(ExtensionKeys.EXTENSIONS).stream()
                .map(ExtensionSettings::of)
                .toList());
    }
}
