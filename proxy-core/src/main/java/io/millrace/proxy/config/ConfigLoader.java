package io.millrace.proxy.config;

import io.millrace.proxy.config.ConfigProblems.Place;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * Reads a configuration and finds everything that is wrong with it in one run. Nothing is thrown for what an operator
 * wrote; it comes back as {@link ConfigProblem}s. Thread-safe: its methods are static and share nothing.
 */
public final class ConfigLoader {
    private final Environment environment;
    private final Path workingDirectory;
    private final ConfigProblems problems = new ConfigProblems();
    private final ConfigValues.Builder values = ConfigValues.builder();

    private ConfigLoader(Environment environment) {
        this.environment = environment;
        workingDirectory = Path.of("").toAbsolutePath();
    }

    /**
     * Reads a file.
     *
     * @param overrides values by key, as {@code --set KEY=VALUE} gives them; they win over the file, and their problems
     *     name {@code --set KEY} as the file
     */
    public static ConfigResult load(Path file, Map<String, String> overrides) {
        return load(file, overrides, Environment.ofProcess());
    }

    static ConfigResult load(Path file, Map<String, String> overrides, Environment environment) {
        ConfigLoader loader = new ConfigLoader(environment);
        String name = file.toString();
        String text = loader.readFile(file, name);
        if (text != null) {
            Path directory = file.toAbsolutePath().getParent();
            loader.bindText(text, name, directory == null ? loader.workingDirectory : directory);
        }
        loader.bindOverrides(overrides);
        return loader.result(new Place(name, 0, 0));
    }

    /**
     * Reads text that is not, or not yet, a file. Relative paths start at the working directory.
     *
     * @param name stands for the file in problems
     * @param overrides as for {@link #load}
     */
    public static ConfigResult parse(String text, String name, Map<String, String> overrides) {
        return parse(text, name, overrides, Environment.ofProcess());
    }

    /**
     * Reads the text of a file that was read before, and may have changed or gone since.
     *
     * @param directory where relative paths in it start: the file's
     * @param overrides as for {@link #load}
     */
    public static ConfigResult parse(String text, String name, Path directory, Map<String, String> overrides) {
        ConfigLoader loader = new ConfigLoader(Environment.ofProcess());
        loader.bindText(text, name, directory);
        loader.bindOverrides(overrides);
        return loader.result(new Place(name, 0, 0));
    }

    static ConfigResult parse(String text, String name, Map<String, String> overrides, Environment environment) {
        ConfigLoader loader = new ConfigLoader(environment);
        loader.bindText(text, name, loader.workingDirectory);
        loader.bindOverrides(overrides);
        return loader.result(new Place(name, 0, 0));
    }

    /**
     * Makes a configuration from flags alone: every host is mapped to one origin. Problems name {@code --listen} or
     * {@code --origin} as the file.
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
        loader.bindOverrides(overrides);
        return loader.result(new Place("--listen", 0, 0));
    }

    private ConfigValues.Builder element(ConfigKey<?> key, String text, String flag) {
        ConfigValues.Builder element = ConfigValues.builder();
        element.origin(flag);
        Place place = new Place(flag, 0, 0);
        try {
            binder(flag, place, workingDirectory).bindText(text, key, element);
        } catch (InvalidValueException e) {
            problems.error(place, "", e.problem(), e.suggestion());
        }
        return element;
    }

    private @Nullable String readFile(Path file, String name) {
        Place place = new Place(name, 0, 0);
        try {
            if (Files.isDirectory(file)) {
                problems.error(place, "", "is a directory");
                return null;
            }
            byte[] bytes = Files.readAllBytes(file);
            if (bytes.length > YamlText.LENGTH_MAX) {
                problems.error(place, "", "is longer than the limit of " + Units.formatSize(YamlText.LENGTH_MAX));
                return null;
            }
            return decode(bytes, name);
        } catch (NoSuchFileException e) {
            problems.error(place, "", "no such file");
        } catch (AccessDeniedException e) {
            problems.error(place, "", "permission denied");
        } catch (IOException e) {
            problems.error(place, "", "cannot be read: " + e.getMessage());
        }
        return null;
    }

    private @Nullable String decode(byte[] bytes, String name) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(in).toString();
        } catch (CharacterCodingException e) {
            String before = new String(bytes, 0, in.position(), StandardCharsets.UTF_8);
            int length = before.codePointCount(0, before.length());
            problems.error(YamlText.placeOf(before, name, length), "", "is not UTF-8 from here on");
            return null;
        }
    }

    private void bindText(String text, String name, Path directory) {
        String withoutMark = text.startsWith("\uFEFF") ? text.substring(1) : text;
        Node root = YamlText.compose(withoutMark, name, problems);
        if (root != null) {
            binder(name, null, directory).bindRoot(root, values);
        } else if (!problems.hasErrors()) {
            problems.error(new Place(name, 1, 1), "", "is empty; a configuration has at least listen and remap");
        }
    }

    private void bindOverrides(Map<String, String> overrides) {
        overrides.forEach(this::bindOverride);
    }

    private void bindOverride(String path, String text) {
        String flag = "--set " + path;
        Place place = new Place(flag, 0, 0);
        if (path.indexOf('[') >= 0) {
            String list = path.substring(0, path.indexOf('['));
            problems.error(place, path, "one element of a list cannot be set; set the whole list", list);
            return;
        }
        Object found = ConfigShape.root().find(path);
        ConfigBinder binder = binder(flag, place, workingDirectory);
        if (found instanceof ConfigShape section) {
            String one = path + "." + section.names().iterator().next();
            problems.error(place, path, "is a section; set one of its keys, such as " + one);
        } else if (!(found instanceof ConfigKey<?> key)) {
            problems.error(place, path, "unknown key", ConfigCatalog.suggest(path));
        } else if (key.type() == ValueType.LIST) {
            bindListOverride(binder, key, flag, text);
        } else {
            problems.setAt(path, place);
            try {
                binder.bindText(text, key, values);
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

    private ConfigResult result(Place whole) {
        ConfigValues bound = values.build();
        new ConfigChecks(problems, whole).check(bound);
        if (problems.hasErrors()) {
            return new ConfigResult(null, problems.sorted());
        }
        ProxyConfig config = new ProxyConfig(bound);
        new RemapChecks(problems, whole).warn(config);
        new RuleReachability(problems, whole).check(config);
        new OriginGroupChecks(problems, whole).warn(config);
        new CacheKeyChecks(problems, whole).check(config);
        new CacheRulesChecks(problems, whole).checkReach(config);
        new FilterChecks(problems, whole).checkReach(config);
        return new ConfigResult(config, problems.sorted());
    }
}
