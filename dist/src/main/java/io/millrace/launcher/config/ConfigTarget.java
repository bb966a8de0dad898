package io.millrace.launcher.config;

import io.millrace.proxy.admin.config.ConfigControl.Problem;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.problem.SettingPlace;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.worker.control.ConfigSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A configuration that is to be applied. Immutable. The overlay of a configuration contains the values that {@code
 * millctl config set} changed without saving them to the file.
 *
 * @param config all settings; null if the configuration has errors
 * @param places the place where each key was set
 * @param source texts of the configuration, including the overlay
 * @param overlaidValues for each key of the overlay, its value without the overlay; a key that has no such value is
 *     missing
 * @param rolledBackTo number of the history entry that is in force after a rollback; 0 if the file is in force
 * @param problems errors in the configuration
 * @param notes remarks for the operator
 */
record ConfigTarget(
        @Nullable ProxyConfig config,
        Map<String, SettingPlace> places,
        ConfigSource source,
        Map<String, String> overlaidValues,
        int rolledBackTo,
        List<Problem> problems,
        List<String> notes) {

    static ConfigTarget of(
            ConfigSource source,
            ConfigResult result,
            Map<String, String> overlaidValues,
            int rolledBackTo,
            List<String> notes) {
        return new ConfigTarget(
                result.config(),
                result.places(),
                source,
                Map.copyOf(overlaidValues),
                rolledBackTo,
                problems(result),
                List.copyOf(notes));
    }

    /**
     * Returns the configuration of the file with the current overlay. Drops a key of the overlay if its value in the
     * file has changed, because the newer change takes precedence.
     */
    static ConfigTarget ofFile(ConfigReader.Reading reading, RunningConfig.Current running) {
        List<String> notes = new ArrayList<>();
        ProxyConfig file = reading.result().config();
        if (running.rolledBackTo() > 0) {
            notes.add("the file is used again instead of configuration " + running.rolledBackTo() + " of the history");
        }
        Map<String, String> overlay = new TreeMap<>(running.source().overlay());
        if (file == null || overlay.isEmpty()) {
            return of(reading.source(), reading.result(), Map.of(), 0, file == null ? List.of() : notes);
        }
        Map<String, String> overlaidValues = new HashMap<>(running.overlaidValues());
        for (String path : List.copyOf(overlay.keySet())) {
            ConfigKey<?> key = ConfigCatalog.find(path);
            String before = running.overlaidValues().get(path);
            String now = key == null ? null : SettingTexts.whole(file, key);
            if (!String.valueOf(before).equals(String.valueOf(now))) {
                overlay.remove(path);
                overlaidValues.remove(path);
                notes.add(path + ": the value in the file has changed and replaces the value from config set");
            }
        }
        ConfigSource source = reading.source().withOverlay(overlay);
        return of(source, overlay.isEmpty() ? reading.result() : source.load(), overlaidValues, 0, notes);
    }

    /** Returns the running configuration with another overlay. */
    static ConfigTarget withOverlay(RunningConfig.Current running, Map<String, String> overlay) {
        Map<String, String> overlaidValues = new HashMap<>();
        for (String path : overlay.keySet()) {
            ConfigKey<?> key = ConfigCatalog.find(path);
            String text = running.source().overlay().containsKey(path)
                    ? running.overlaidValues().get(path)
                    : key == null ? null : SettingTexts.whole(running.config(), key);
            if (text != null) {
                overlaidValues.put(path, text);
            }
        }
        ConfigSource source = running.source().withOverlay(overlay);
        return of(source, source.load(), overlaidValues, running.rolledBackTo(), List.of());
    }

    /** Returns the errors of a result in the format of the admin API, without warnings. */
    static List<Problem> problems(ConfigResult result) {
        return result.problems().stream()
                .filter(problem -> problem.severity() == ConfigProblem.Severity.ERROR)
                .map(problem -> new Problem(
                        problem.file() == null ? "" : problem.file(),
                        problem.line(),
                        problem.column(),
                        problem.path(),
                        problem.message(),
                        problem.suggestion(),
                        problem.text()))
                .toList();
    }
}
