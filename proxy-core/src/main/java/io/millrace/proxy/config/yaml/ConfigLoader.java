package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.RemapChecks;
import io.millrace.proxy.config.cache.CompressionKeys;
import io.millrace.proxy.config.check.CacheKeyChecks;
import io.millrace.proxy.config.check.CacheRulesChecks;
import io.millrace.proxy.config.check.ConfigChecks;
import io.millrace.proxy.config.check.FilePermissionChecks;
import io.millrace.proxy.config.check.FilterChecks;
import io.millrace.proxy.config.check.OriginGroupChecks;
import io.millrace.proxy.config.check.RuleReachability;
import io.millrace.proxy.config.edge.EsiKeys;
import io.millrace.proxy.config.fleet.FleetKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.problem.SettingPlace;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.Environment;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.RuleUrl;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * Reads a configuration and reports all of its problems in one run. Errors of the operator are returned as
 * {@link ConfigProblem}s, not thrown. Thread-safe: the methods are static and share no state.
 */
public final class ConfigLoader {
    /** Prefix of the place of a value set on the command line. */
    private static final String SET_PREFIX = "--set ";

    private final Environment environment;
    private final Path workingDirectory;
    private final ConfigProblems problems = new ConfigProblems();
    private final ConfigIncludes files = new ConfigIncludes(problems);
    private final ConfigValues.Builder values = ConfigValues.builder();
    private @Nullable ConfigDocument document;
    /**
     * False if a worker reads the document that the launcher has checked. The worker must start even if a file that
     * only the launcher reads is missing.
     */
    private boolean checksFiles = true;
    /** True if the launcher has found no error in the same text, so that the worker does not check it again. */
    private boolean isChecked;

    private ConfigLoader(Environment environment) {
        this.environment = environment;
        workingDirectory = Path.of("").toAbsolutePath();
    }

    /**
     * Reads a configuration file.
     *
     * @param overrides values by key, from {@code --set KEY=VALUE}. They take precedence over the file. A problem in
     *     them has {@code --set KEY} in place of the file name
     */
    public static ConfigResult load(Path file, Map<String, String> overrides) {
        return load(file, overrides, Environment.ofProcess());
    }

    /**
     * Reads a configuration file together with the configuration that the fleet has pushed. The latter takes precedence
     * over the file, unless the file turns {@code fleet.config} off.
     *
     * @param pushed null for none
     * @param overrides as for {@link #load}
     */
    public static ConfigResult load(Path file, ConfigDocument.@Nullable Pushed pushed, Map<String, String> overrides) {
        return load(file, pushed, overrides, Environment.ofProcess());
    }

    static ConfigResult load(Path file, Map<String, String> overrides, Environment environment) {
        return load(file, null, overrides, environment);
    }

    static ConfigResult load(
            Path file, ConfigDocument.@Nullable Pushed pushed, Map<String, String> overrides, Environment environment) {
        ConfigLoader loader = new ConfigLoader(environment);
        String name = file.toString();
        String text = loader.files.read(file, name);
        if (text != null) {
            Path directory = file.toAbsolutePath().getParent();
            loader.bindText(text, name, directory == null ? loader.workingDirectory : directory, null);
        }
        loader.bindPushed(pushed, List.of(overrides));
        loader.bindOverrides(overrides, SET_PREFIX);
        return loader.result(new Place(name, 0, 0));
    }

    /**
     * Reads text that is not in a file. Relative paths start at the working directory.
     *
     * @param name file name in problems
     * @param overrides as for {@link #load}
     */
    public static ConfigResult parse(String text, String name, Map<String, String> overrides) {
        return parse(text, name, overrides, Environment.ofProcess());
    }

    /**
     * Reads text that is or will be in a file of a directory.
     *
     * @param directory base of relative paths in the text
     * @param overrides as for {@link #load}
     */
    public static ConfigResult parse(String text, String name, Path directory, Map<String, String> overrides) {
        ConfigLoader loader = new ConfigLoader(Environment.ofProcess());
        loader.bindText(text, name, directory, null);
        loader.bindOverrides(overrides, SET_PREFIX);
        return loader.result(new Place(name, 0, 0));
    }

    /**
     * Reads a document that {@link #parse(ConfigDocument, Map, Map)} or another method has read without errors,
     * possibly in another process. Values are not checked against each other, and there are no warnings.
     *
     * @param overrides as for {@link #parse(ConfigDocument, Map, Map)}
     * @param overlay as for {@link #parse(ConfigDocument, Map, Map)}
     */
    public static ConfigResult parseChecked(
            ConfigDocument document, Map<String, String> overrides, Map<String, String> overlay) {
        ConfigLoader loader = new ConfigLoader(Environment.ofProcess());
        loader.isChecked = true;
        loader.problems.omitElementPlaces();
        return loader.parseAgain(document, overrides, overlay);
    }

    /**
     * Reads a document that was read before, without accessing its files again.
     *
     * @param overrides as for {@link #load}
     * @param overlay values that were set at run time. They take precedence over file and overrides. A problem in them
     *     has {@code config set KEY} in place of the file name
     */
    public static ConfigResult parse(
            ConfigDocument document, Map<String, String> overrides, Map<String, String> overlay) {
        return new ConfigLoader(Environment.ofProcess()).parseAgain(document, overrides, overlay);
    }

    private ConfigResult parseAgain(ConfigDocument again, Map<String, String> overrides, Map<String, String> overlay) {
        checksFiles = false;
        Map<String, String> included = new LinkedHashMap<>(again.included());
        String pushed = again.pushedName();
        String pushedText = pushed == null ? null : included.remove(pushed);
        bindText(again.text(), again.name(), again.directory(), included);
        if (pushed != null && pushedText != null) {
            bindPushed(pushed, pushedText, List.of(overlay, overrides));
        }
        bindOverrides(overrides, SET_PREFIX);
        bindOverrides(overlay, SettingPlace.OVERLAY);
        return result(new Place(again.name(), 0, 0));
    }

    static ConfigResult parse(String text, String name, Map<String, String> overrides, Environment environment) {
        ConfigLoader loader = new ConfigLoader(environment);
        loader.bindText(text, name, loader.workingDirectory, null);
        loader.bindOverrides(overrides, SET_PREFIX);
        return loader.result(new Place(name, 0, 0));
    }

    /**
     * Creates a configuration from options alone: every host is mapped to one origin. Problems have {@code --listen} or
     * {@code --origin} in place of the file name.
     *
     * @param listen addresses such as {@code :8080}
     * @param originUrl such as {@code http://127.0.0.1:9000}
     * @param overrides as for {@link #load}
     */
    public static ConfigResult forOrigin(List<String> listen, String originUrl, Map<String, String> overrides) {
        ConfigLoader loader = new ConfigLoader(Environment.ofProcess());
        List<ConfigValues> addresses = listen.stream()
                .map(address -> loader.element(ConfigKeys.LISTEN_ADDRESS, address, "--listen")
                        .build())
                .toList();
        ConfigValues.Builder rule = loader.element(RemapKeys.TO, originUrl, "--origin");
        rule.set(RemapKeys.MAP, new RuleUrl(null, null, -1, "/"));
        loader.values.put(ConfigKeys.LISTEN, addresses);
        loader.values.put(ConfigKeys.REMAP, List.of(rule.build()));
        loader.bindOverrides(overrides, SET_PREFIX);
        return loader.result(new Place("--listen", 0, 0));
    }

    private ConfigValues.Builder element(ConfigKey<?> key, String text, String flag) {
        ConfigValues.Builder element = ConfigValues.builder();
        element.filePosition(flag);
        Place place = new Place(flag, 0, 0);
        try {
            binder(flag, place, workingDirectory).bindText(text, key, element);
        } catch (InvalidValueException e) {
            problems.error(place, "", e.problem(), e.suggestion());
        }
        return element;
    }

    /**
     * Parses a file and its included files.
     *
     * @param given the texts of the included files, if they were read before; null to read them now
     */
    private void bindText(String text, String name, Path directory, @Nullable Map<String, String> given) {
        problems.begin(name);
        Node root = YamlText.compose(withoutByteOrderMark(text), name, problems);
        if (root != null) {
            binder(name, null, directory).bindRoot(root, values);
        } else if (!problems.hasErrors()) {
            problems.error(new Place(name, 1, 1), "", "is empty; a configuration needs at least listen and remap");
        }
        List<String> patterns = values.find(FileKeys.INCLUDE);
        Map<String, String> included =
                given == null ? files.included(patterns == null ? List.of() : patterns, name, directory) : given;
        included.forEach((file, more) -> {
            problems.begin(file);
            Node node = YamlText.compose(withoutByteOrderMark(more), file, problems);
            if (node != null) {
                binder(file, null, directory).bindIncluded(node, values);
            }
        });
        document = new ConfigDocument(name, directory, text, included);
    }

    private void bindPushed(ConfigDocument.@Nullable Pushed pushed, List<Map<String, String>> overrides) {
        ConfigDocument read = document;
        if (pushed != null && read != null) {
            bindPushed(pushed.name(), pushed.text(), overrides);
            document = read.withPushed(pushed);
        }
    }

    /**
     * Parses the configuration that the fleet has pushed, unless {@code fleet.config} is off.
     *
     * @param overrides values by key that take precedence over the file, the strongest first
     */
    private void bindPushed(String name, String text, List<Map<String, String>> overrides) {
        String key = localValue(FleetKeys.CONFIG_PUBLIC_KEY, overrides);
        String node = localValue(FleetKeys.NODE, overrides);
        String tier = localValue(FleetKeys.TIER, overrides);
        if (key == null || node == null || "false".equals(localValue(FleetKeys.CONFIG, overrides))) {
            return;
        }
        problems.begin(name);
        Node root = YamlText.compose(withoutByteOrderMark(text), name, problems);
        if (root != null) {
            new PushedDocument(name, workingDirectory, environment, problems)
                    .bind(root, node, tier == null ? FleetKeys.TIER.defaultText() : tier, values);
        } else if (!problems.hasErrors()) {
            problems.error(new Place(name, 1, 1), "", "is empty; a pushed configuration needs at least one key");
        }
    }

    /** Returns the text of a value from the command line or the file; null if it is not set. */
    private <T> @Nullable String localValue(ConfigKey<T> key, List<Map<String, String>> overrides) {
        for (Map<String, String> settings : overrides) {
            String text = settings.get(key.path());
            if (text != null) {
                return text;
            }
        }
        T value = values.find(key);
        return value == null ? null : key.format(value);
    }

    private static String withoutByteOrderMark(String text) {
        return text.startsWith("\uFEFF") ? text.substring(1) : text;
    }

    private void bindOverrides(Map<String, String> overrides, String placePrefix) {
        overrides.forEach((path, text) -> bindOverride(path, text, placePrefix));
    }

    /**
     * Sets one value from outside of the file.
     *
     * @param placePrefix first part of the place in problems; the path follows
     */
    private void bindOverride(String path, String text, String placePrefix) {
        String flag = placePrefix + path;
        Place place = new Place(flag, 0, 0);
        if (path.indexOf('[') >= 0) {
            String list = path.substring(0, path.indexOf('['));
            problems.error(place, path, "an element of a list cannot be set; set the whole list", list);
            return;
        }
        Object found = ConfigShape.root().find(path);
        ConfigBinder binder = binder(flag, place, workingDirectory);
        if (found instanceof ConfigShape section) {
            String one = path + "." + section.names().iterator().next();
            problems.error(place, path, "is a section; set one of its keys, such as " + one);
        } else if (!(found instanceof ConfigKey<?> key)) {
            problems.error(place, path, "unknown key", ConfigCatalog.suggest(path));
        } else if (key == FileKeys.INCLUDE) {
            problems.error(place, path, "can only be set in a configuration file");
        } else if (key.type() == ValueType.LIST) {
            bindListOverride(binder, key, flag, text);
        } else {
            problems.recordPlace(path, place);
            try {
                binder.bindText(FlowText.unbracketed(key, text), key, values);
                if (CompressionKeys.turnsOn(key) && !values.isSet(CompressionKeys.ENABLED)) {
                    values.put(CompressionKeys.ENABLED, true);
                }
                if (EsiKeys.turnsOn(key) && !values.isSet(EsiKeys.ENABLED)) {
                    values.put(EsiKeys.ENABLED, true);
                }
                if (CompressionKeys.turnsOnDictionaries(key) && !values.isSet(CompressionKeys.DICTIONARIES_ENABLED)) {
                    values.put(CompressionKeys.DICTIONARIES_ENABLED, true);
                }
            } catch (InvalidValueException e) {
                problems.error(place, path, e.problem(), e.suggestion());
            }
        }
    }

    private void bindListOverride(ConfigBinder binder, ConfigKey<?> key, String flag, String text) {
        Node node = YamlText.compose(text, flag, problems);
        if (node != null) {
            binder.bindList(node, key, key.path(), values);
        }
    }

    private ConfigBinder binder(String name, @Nullable Place override, Path directory) {
        return new ConfigBinder(name, override, directory, environment, problems);
    }

    private ConfigResult result(Place wholeFile) {
        ConfigValues bound = values.build();
        if (isChecked) {
            ProxyConfig config = problems.hasErrors() ? null : new ProxyConfig(bound);
            return new ConfigResult(config, problems.sorted(), problems.places(), document);
        }
        new ConfigChecks(problems, wholeFile).check(bound);
        if (checksFiles) {
            new FilePermissionChecks(problems, wholeFile).check(bound);
        }
        if (problems.hasErrors()) {
            return new ConfigResult(null, problems.sorted(), problems.places(), document);
        }
        ProxyConfig config = new ProxyConfig(bound);
        new RemapChecks(problems, wholeFile).warn(config);
        new FilePermissionChecks(problems, wholeFile).warnOfReadableFiles(bound);
        new RuleReachability(problems, wholeFile).check(config);
        new OriginGroupChecks(problems, wholeFile).warn(config);
        new CacheKeyChecks(problems, wholeFile).check(config);
        new CacheRulesChecks(problems, wholeFile).checkReach(config);
        new FilterChecks(problems, wholeFile).checkReach(config);
        return new ConfigResult(problems.hasErrors() ? null : config, problems.sorted(), problems.places(), document);
    }
}
