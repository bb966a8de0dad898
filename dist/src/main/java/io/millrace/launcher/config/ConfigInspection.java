package io.millrace.launcher.config;

import io.millrace.launcher.exit.FileFailure;
import io.millrace.proxy.admin.config.ConfigInspector;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ConfigChange;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.problem.SettingPlace;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The answers of the admin API about the configuration in force and earlier configurations. Thread-safe. */
public final class ConfigInspection implements ConfigInspector {
    private final RunningConfig running;

    /** Creates an inspection of this configuration. */
    public ConfigInspection(RunningConfig running) {
        this.running = running;
    }

    @Override
    public List<KeyValue> settings(List<String> names) throws AdminException {
        RunningConfig.Current current = running.current();
        Set<ConfigKey<?>> keys = new LinkedHashSet<>();
        if (names.isEmpty()) {
            ConfigCatalog.keys().stream()
                    .filter(key -> !SettingTexts.isKeyOfListElement(key))
                    .forEach(keys::add);
        }
        for (String name : names) {
            List<ConfigKey<?>> found = ConfigCatalog.below(name);
            if (found.isEmpty()) {
                String meant = ConfigCatalog.suggest(name);
                String question = meant == null ? "" : " (did you mean " + meant + "?)";
                throw new AdminException(400, "unknown-key", "unknown key " + name + question);
            }
            keys.addAll(found);
        }
        return keys.stream().map(key -> setting(current, key)).toList();
    }

    private KeyValue setting(RunningConfig.Current current, ConfigKey<?> key) {
        String path = key.path();
        if (SettingTexts.isKeyOfListElement(key)) {
            return new KeyValue(key, null, Source.DEFAULT, "", List.of(), null, null);
        }
        String value = SettingTexts.shown(current.config(), key);
        SettingPlace place = current.places().get(path);
        String valueAtLaunch = running.atLaunch().get(path);
        boolean isPending =
                SettingTexts.isOfLauncher(key) && !String.valueOf(valueAtLaunch).equals(String.valueOf(value));
        boolean isOverlay = current.source().overlay().containsKey(path);
        return new KeyValue(
                key,
                value,
                SettingTexts.source(place),
                place(current, place),
                variables(place),
                isOverlay ? current.overlaidValues().getOrDefault(path, "") : null,
                isPending ? String.valueOf(valueAtLaunch == null ? "" : valueAtLaunch) : null);
    }

    private static String place(RunningConfig.Current current, @Nullable SettingPlace place) {
        if (place == null) {
            return "";
        }
        boolean isOverlay = SettingTexts.source(place) == Source.OVERLAY;
        return current.rolledBackTo() == 0 || isOverlay
                ? place.text()
                : "configuration " + current.rolledBackTo() + ", " + place.text();
    }

    private static List<String> variables(@Nullable SettingPlace place) {
        return place == null ? List.of() : place.variables();
    }

    @Override
    public DiffReport diff() {
        RunningConfig.Current current = running.current();
        List<Difference> differences = new ArrayList<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            String value = SettingTexts.isKeyOfListElement(key) ? null : SettingTexts.shown(current.config(), key);
            SettingPlace place = current.places().get(key.path());
            if (current.config().values().isSet(key) && !isDefault(key, value)) {
                differences.add(new Difference(
                        key.path(),
                        key.defaultText(),
                        value,
                        SettingTexts.source(place),
                        place(current, place),
                        variables(place),
                        key.apply()));
            }
        }
        List<String> notes = new ArrayList<>();
        if (current.rolledBackTo() > 0) {
            notes.add("configuration " + current.rolledBackTo() + " of the history is in use instead of the file");
        }
        return new DiffReport(differences, pending(current, notes), notes);
    }

    private static boolean isDefault(ConfigKey<?> key, @Nullable String value) {
        return String.valueOf(value).equals(key.type().name().equals("list") ? "[]" : key.defaultText());
    }

    /** Returns the settings that a reload would change now. */
    private List<Difference> pending(RunningConfig.Current current, List<String> notes) {
        ConfigTarget file = ConfigTarget.ofFile(running.reader().read(), current);
        ProxyConfig config = file.config();
        if (config == null) {
            notes.add("a reload would be rejected: " + file.problems().get(0).text());
            return List.of();
        }
        file.notes().stream().filter(note -> current.rolledBackTo() == 0).forEach(notes::add);
        List<Difference> pending = between(current.config(), config, file.places());
        if (!pending.isEmpty()) {
            notes.add("the file differs from the running configuration: a reload would change "
                    + (pending.size() == 1 ? "1 setting" : pending.size() + " settings"));
        }
        return pending;
    }

    private static List<Difference> between(ProxyConfig before, ProxyConfig after, Map<String, SettingPlace> places) {
        List<Difference> differences = new ArrayList<>();
        for (ConfigChange change : ConfigChange.between(before, after)) {
            ConfigKey<?> key = ConfigCatalog.find(change.key());
            SettingPlace place = places.get(change.key());
            if (key != null) {
                differences.add(new Difference(
                        change.key(),
                        SettingTexts.shown(before, key),
                        SettingTexts.shown(after, key),
                        SettingTexts.source(place),
                        place == null ? "" : place.text(),
                        variables(place),
                        change.apply()));
            }
        }
        return differences;
    }

    @Override
    public DiffReport diff(int from, int to) throws AdminException {
        ConfigResult before = load(from);
        ConfigResult after = load(to);
        return new DiffReport(between(usable(before, from), usable(after, to), after.places()), List.of(), List.of());
    }

    private ConfigResult load(int number) throws AdminException {
        try {
            return running.history().source(number).load();
        } catch (IOException e) {
            throw new AdminException(400, "unknown-entry", FileFailure.text(e));
        }
    }

    private static ProxyConfig usable(ConfigResult result, int number) throws AdminException {
        ProxyConfig config = result.config();
        if (config == null) {
            String problem = ConfigTarget.problems(result).get(0).text();
            throw new AdminException(
                    409, "not-valid", "configuration " + number + " of the history is no longer valid: " + problem);
        }
        return config;
    }

    @Override
    public List<Entry> history() {
        List<Entry> entries = new ArrayList<>();
        for (HistoryEntry entry : running.history().entries()) {
            entries.add(new Entry(
                    entry.number(),
                    entry.at(),
                    entry.by(),
                    entry.source().name(),
                    List.copyOf(new TreeSet<>(entry.source().overlay().keySet())),
                    entry.changed(),
                    entry.number() == running.history().runningNumber()));
        }
        return entries;
    }
}
