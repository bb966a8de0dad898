package io.millrace.proxy.config.extension;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The extensions of a configuration, in the order of their calls. Immutable.
 *
 * @param entries the extensions
 * @param namesByRemap the names of the extensions of remap rules that choose them, by index of the rule
 */
public record ExtensionsConfig(List<ExtensionEntry> entries, Map<Integer, Set<String>> namesByRemap) {
    /** Limit of extensions of a configuration. A mask of the engine has one bit for each. */
    public static final int EXTENSIONS_MAX = 32;

    /** Copies list and map. */
    public ExtensionsConfig {
        entries = List.copyOf(entries);
        namesByRemap = Map.copyOf(namesByRemap);
    }

    /** Reads the extensions of a configuration that was checked. */
    public static ExtensionsConfig from(ConfigValues values) {
        List<ExtensionEntry> entries = new ArrayList<>();
        values.elements(ExtensionKeys.EXTENSIONS).forEach(element -> entries.add(ExtensionEntry.of(element)));
        Map<Integer, Set<String>> names = new HashMap<>();
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < remap.size(); i++) {
            List<String> chosen = remap.get(i).find(ExtensionKeys.OF_REMAP);
            if (chosen != null) {
                names.put(i, Set.copyOf(chosen));
            }
        }
        return new ExtensionsConfig(entries, names);
    }

    /**
     * Returns true if an extension sees the requests of a remap rule. Rules that do not choose extensions, and requests
     * without a rule, use all.
     *
     * @param remapIndex index of the rule in the configuration
     */
    public boolean isUsed(int remapIndex, String name) {
        Set<String> chosen = namesByRemap.get(remapIndex);
        return chosen == null || chosen.contains(name);
    }
}
