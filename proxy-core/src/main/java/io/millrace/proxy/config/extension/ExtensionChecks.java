package io.millrace.proxy.config.extension;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ExtensionJar;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Checks the list of extensions and its use by remap rules. Runs no code of an extension. */
public final class ExtensionChecks {
    private final ConfigProblems problems;
    private final Place wholeFile;

    /** @param wholeFile place of problems without a place of their own */
    public ExtensionChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /** Reports every fault. */
    public void check(ConfigValues values) {
        List<ConfigValues> entries = values.elements(ExtensionKeys.EXTENSIONS);
        Map<String, Integer> names = new LinkedHashMap<>();
        for (int i = 0; i < entries.size(); i++) {
            checkEntry(entries.get(i), i, names);
        }
        if (entries.size() > ExtensionsConfig.EXTENSIONS_MAX) {
            String path = "extensions[" + ExtensionsConfig.EXTENSIONS_MAX + "]";
            problems.error(
                    at(path),
                    path,
                    "is beyond the limit of " + ExtensionsConfig.EXTENSIONS_MAX + " extensions of a configuration");
        }
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < remap.size(); i++) {
            List<String> chosen = remap.get(i).find(ExtensionKeys.OF_REMAP);
            if (chosen != null) {
                checkNames(chosen, "remap[" + i + "].extensions", names);
            }
        }
    }

    private void checkEntry(ConfigValues entry, int index, Map<String, Integer> names) {
        String path = "extensions[" + index + "]";
        String name = entry.find(ExtensionKeys.NAME);
        if (name != null && !ExtensionSettings.NAME.matcher(name).matches()) {
            String key = path + ".name";
            problems.error(at(key), key, "'" + name + "' is not a name of 1 to 64 letters, digits, '-' and '_'");
        } else if (name != null) {
            Integer first = names.putIfAbsent(name, index);
            if (first != null) {
                String key = path + ".name";
                problems.error(at(key), key, "'" + name + "' is the name of extensions[" + first + "] too");
            }
        }
        ExtensionJar jar = entry.find(ExtensionKeys.JAR);
        if (jar != null) {
            problems.check(
                    path + ".jar", wholeFile, () -> JarServices.check(jar.path(), entry.find(ExtensionKeys.CLASS)));
        }
    }

    private void checkNames(List<String> chosen, String path, Map<String, Integer> names) {
        for (String name : chosen) {
            if (!names.containsKey(name)
                    && !problems.isBroken("extensions")
                    && !problems.isAnyBrokenBelow("extensions")) {
                problems.error(
                        at(path),
                        path,
                        "'" + name + "' is not the name of an element of extensions",
                        problems.closest(name, names.keySet()));
            }
        }
    }

    private Place at(String path) {
        return problems.placeOf(path, wholeFile);
    }
}
