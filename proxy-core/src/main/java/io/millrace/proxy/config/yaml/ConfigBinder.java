package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.admin.AdminKeys;
import io.millrace.proxy.config.cache.CompressionKeys;
import io.millrace.proxy.config.edge.EsiKeys;
import io.millrace.proxy.config.fleet.PushedKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ExtensionJar;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.value.Environment;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Suggestions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * Converts the YAML nodes of a configuration to values of its keys. Reports all problems instead of stopping at the
 * first. Confined to one thread.
 */
final class ConfigBinder {
    /** Keys of Traffic Server's cache.config that are not supported, each with the reason. */
    private static final Map<String, String> UNSUPPORTED_CACHE_RULE_KEYS = Map.of(
            "dest_ip",
            "is not supported, because cache rules are evaluated before the origin's address is known; use dest_host",
            "internal",
            "is not supported, because this proxy has no internal requests");

    private final @Nullable Place override;
    private final String file;
    private final Path directory;
    private final Environment environment;
    private final ConfigProblems problems;
    private final Kind documentKind;

    /** The kind of document that is read. */
    enum Kind {
        /** A local file, or a value from the command line or an API. */
        LOCAL,
        /**
         * A configuration that the fleet has pushed. It must not set local keys. Its lists replace those of the local
         * file.
         */
        PUSHED,
        /**
         * A part of a pushed configuration for one tier or node. Its lists are appended to those read before, if
         * included files may also contain them.
         */
        OVERLAY,
        /** A part of a pushed configuration for other nodes: only the names of its keys are checked, not its values. */
        OVERLAY_OF_OTHERS
    }

    ConfigBinder(
            String file, @Nullable Place override, Path directory, Environment environment, ConfigProblems problems) {
        this(file, override, directory, environment, problems, Kind.LOCAL);
    }

    /**
     * @param override place of all nodes if they come from the command line or an API. Null for nodes of a file
     * @param directory base of relative paths, absolute
     */
    ConfigBinder(
            String file,
            @Nullable Place override,
            Path directory,
            Environment environment,
            ConfigProblems problems,
            Kind kind) {
        documentKind = kind;
        this.file = file;
        this.override = override;
        this.directory = directory;
        this.environment = environment;
        this.problems = problems;
    }

    /** Reads a whole configuration file. */
    void bindRoot(Node root, ConfigValues.Builder into) {
        if (root instanceof MappingNode mapping) {
            bindSection(mapping, ConfigShape.root(), "", into);
        } else {
            problems.error(
                    place(root), "", "a configuration must consist of 'key: value' lines, this is " + kind(root));
        }
    }

    /** Reads an included file: appends its lists to those read before. */
    void bindIncluded(Node root, ConfigValues.Builder into) {
        if (!(root instanceof MappingNode mapping)) {
            problems.error(
                    place(root), "", "an included file must consist of lists such as remap:, this is " + kind(root));
            return;
        }
        Map<String, Place> seen = new HashMap<>();
        for (NodeTuple tuple : mapping.getValue()) {
            Place place = place(tuple.getKeyNode());
            String name = tuple.getKeyNode() instanceof ScalarNode scalar ? scalar.getValue() : "";
            Place first = seen.putIfAbsent(name, place);
            ConfigKey<?> key = ConfigShape.root().key(name);
            if (first != null) {
                problems.error(place, name, "set twice; the first value is on line " + first.line());
            } else if (key == null || !ConfigIncludes.INCLUDABLE.contains(key)) {
                problems.error(
                        place,
                        name,
                        "is not allowed in an included file, which can contain only "
                                + String.join(
                                        ", ",
                                        ConfigIncludes.INCLUDABLE.stream()
                                                .map(ConfigKey::path)
                                                .toList()));
            } else {
                bindList(tuple.getValueNode(), key, name, into.elements(key), into);
            }
        }
    }

    /** Reads the value of a list key at a path. */
    void bindList(Node node, ConfigKey<?> key, String path, ConfigValues.Builder into) {
        recordPlace(path, place(node));
        bindList(node, key, path, List.of(), into);
    }

    private void bindList(
            Node node, ConfigKey<?> key, String path, List<ConfigValues> before, ConfigValues.Builder into) {
        List<ConfigValues> elements = new ArrayList<>(before);
        if (node instanceof SequenceNode sequence) {
            for (Node element : sequence.getValue()) {
                bindElement(element, key, path + "[" + elements.size() + "]", elements);
            }
        } else if (ConfigShape.keyOfWord(key) != null && node instanceof ScalarNode && !isNull(node)) {
            bindElement(node, key, path + "[" + elements.size() + "]", elements);
        } else if (!isNull(node)) {
            String hint = node instanceof MappingNode ? "; put a dash before the first key of each element" : "";
            problems.error(place(node), path, "must be a list, this is " + kind(node) + hint);
            return;
        }
        into.put(key, List.copyOf(elements));
    }

    private void bindElement(Node node, ConfigKey<?> key, String path, List<ConfigValues> elements) {
        if (!problems.countExpanded(1, place(node))) {
            return;
        }
        ConfigValues.Builder element = ConfigValues.builder();
        element.filePosition(place(node).text());
        ConfigKey<?> word = ConfigShape.keyOfWord(key);
        if (documentKind == Kind.OVERLAY_OF_OTHERS && node instanceof ScalarNode) {
            return;
        }
        if (word != null && node instanceof ScalarNode scalar && !isNull(node)) {
            bindScalar(scalar, word, path, element);
        } else if (node instanceof MappingNode mapping) {
            bindSection(mapping, ConfigShape.element(key), path, element);
        } else {
            problems.error(
                    place(node),
                    path,
                    "must be a section with " + names(ConfigShape.element(key)) + ", this is " + kind(node));
        }
        recordPlace(path, place(node));
        elements.add(element.build());
    }

    private void bindSection(MappingNode mapping, ConfigShape shape, String path, ConfigValues.Builder into) {
        Map<String, Place> seen = new HashMap<>();
        boolean unknown = false;
        for (NodeTuple tuple :
                MergeKeys.merged(mapping, (node, problem) -> problems.error(place(node), path, problem))) {
            Place place = place(tuple.getKeyNode());
            if (!(tuple.getKeyNode() instanceof ScalarNode keyNode)) {
                problems.error(place, path, "a key must be a word, this is " + kind(tuple.getKeyNode()));
                continue;
            }
            String name = keyNode.getValue();
            String full = path.isEmpty() ? name : path + "." + name;
            Place first = seen.putIfAbsent(name, place);
            if (first != null) {
                problems.error(place, full, "set twice; the first value is on line " + first.line());
                continue;
            }
            ConfigKey<?> key = shape.key(name);
            ConfigShape section = shape.section(name);
            boolean isSection = section != null && !(tuple.getValueNode() instanceof SequenceNode);
            String refusal = documentKind == Kind.LOCAL ? null : refusal(key, section, isSection);
            if (refusal != null) {
                problems.error(place, full, refusal);
            } else if (key != null && !isSection) {
                recordPlace(full, place);
                bindKey(tuple.getValueNode(), key, full, into);
            } else if (section != null) {
                bindSubsection(tuple.getValueNode(), section, full, into);
            } else {
                unknown = true;
                reportUnknownKey(place, shape, name, full);
            }
        }
        // A misspelt key is reported once, not also as a missing key.
        if (!unknown) {
            requireKeys(mapping, shape, path, seen.keySet());
        }
    }

    /** Returns the problem of a key or section in a pushed configuration; null if it is permitted. */
    private static @Nullable String refusal(
            @Nullable ConfigKey<?> key, @Nullable ConfigShape section, boolean isSection) {
        if (isSection && section != null) {
            return PushedKeys.refusalOfSection(section.path());
        }
        return key == null ? null : PushedKeys.refusal(key);
    }

    private void bindSubsection(Node node, ConfigShape shape, String path, ConfigValues.Builder into) {
        if (node instanceof MappingNode mapping) {
            if (shape.path().equals(SharedTlsKeys.LISTEN_SECTION)) {
                // An empty section enables TLS.
                into.put(SharedTlsKeys.LISTEN_ENABLED, true);
            } else if (isSection(shape, CompressionKeys.SECTION)) {
                // An empty section enables compression.
                into.put(CompressionKeys.ENABLED, true);
            } else if (isSection(shape, EsiKeys.SECTION)) {
                // An empty section enables ESI.
                into.put(EsiKeys.ENABLED, true);
            } else if (isSection(shape, CompressionKeys.DICTIONARIES)) {
                into.put(CompressionKeys.DICTIONARIES_ENABLED, true);
            }
            bindSection(mapping, shape, path, into);
        } else if (!isNull(node)) {
            problems.error(place(node), path, "must be a section with " + names(shape) + ", this is " + kind(node));
        }
    }

    private void recordPlace(String path, Place place) {
        if (documentKind != Kind.OVERLAY_OF_OTHERS) {
            problems.recordPlace(path, place);
        }
    }

    /** Returns true if a shape describes the given section: the general section, or the section of one remap rule. */
    private static boolean isSection(ConfigShape shape, String section) {
        String path = shape.path();
        return path.equals(section) || path.equals("remap[]." + section);
    }

    private void bindKey(Node node, ConfigKey<?> key, String path, ConfigValues.Builder into) {
        if (key.type() == ValueType.LIST) {
            recordPlace(path, place(node));
            boolean appends = documentKind == Kind.OVERLAY && ConfigIncludes.INCLUDABLE.contains(key);
            bindList(node, key, path, appends ? into.elements(key) : List.of(), into);
        } else if (documentKind == Kind.OVERLAY_OF_OTHERS) {
            return;
        } else if (key.type().isWords() && node instanceof SequenceNode sequence) {
            bindNames(sequence, key, path, into);
        } else if (key.type() == ValueType.FIELD_LINES && node instanceof MappingNode mapping) {
            bindFieldLines(mapping, key, path, into);
        } else if (key.type() == ValueType.SECTION && node instanceof MappingNode mapping) {
            ConfigTree tree = trees().section(mapping, path, 0);
            if (tree != null) {
                into.put(key, tree);
            }
        } else if (isNull(node)) {
            problems.error(place(node), path, "has no value; it takes " + expected(key));
        } else if (node instanceof ScalarNode scalar) {
            bindScalar(scalar, key, path, into);
        } else {
            problems.error(place(node), path, "takes " + expected(key) + ", this is " + kind(node));
        }
    }

    private void bindNames(SequenceNode node, ConfigKey<?> key, String path, ConfigValues.Builder into) {
        List<String> names = new ArrayList<>();
        if (!problems.countExpanded(node.getValue().size(), place(node))) {
            return;
        }
        for (Node element : node.getValue()) {
            if (element instanceof ScalarNode scalar && !isNull(element)) {
                names.add(scalar.getValue());
            } else {
                problems.error(
                        place(element), path + "[" + names.size() + "]", "must be a word, this is " + kind(element));
                return;
            }
        }
        try {
            boolean mayBeEmpty = key.type().mayBeEmpty();
            if (names.isEmpty() && key == ProxyProtocolKeys.ALLOW) {
                problems.error(place(node), path, "is empty; leave the key out to allow nobody");
            } else if (names.isEmpty() && FilterKeys.isCondition(key)) {
                problems.error(
                        place(node), path, "is empty, so no request would match; leave the key out to match any");
            } else if (names.isEmpty() && AdminKeys.isLimit(key)) {
                problems.error(
                        place(node),
                        path,
                        "is empty, so that the token could purge nothing; leave the key out for no limit");
            } else if (names.isEmpty() && !mayBeEmpty && key.defaultText() != null) {
                problems.error(place(node), path, "is empty; omit the key for the default: " + key.defaultText());
            } else if (!names.isEmpty() || mayBeEmpty) {
                String text = String.join(key.type().isSpaced() ? " " : ",", names);
                bindText(expanded(text, path), key, into);
            }
        } catch (InvalidValueException e) {
            problems.error(place(node), path, e.problem(), e.suggestion());
        }
    }

    /** Reads a section of fields, whose values are texts or lists of texts. */
    private void bindFieldLines(MappingNode mapping, ConfigKey<?> key, String path, ConfigValues.Builder into) {
        StringBuilder lines = new StringBuilder();
        Map<String, Place> seen = new HashMap<>();
        for (NodeTuple tuple :
                MergeKeys.merged(mapping, (node, problem) -> problems.error(place(node), path, problem))) {
            String name = tuple.getKeyNode() instanceof ScalarNode scalar ? scalar.getValue() : "";
            Place first = seen.putIfAbsent(name.toLowerCase(Locale.ROOT), place(tuple.getKeyNode()));
            if (first != null) {
                problems.error(
                        place(tuple.getKeyNode()),
                        path,
                        name + " is set twice; the first value is on line " + first.line());
                return;
            }
            Node value = tuple.getValueNode();
            List<Node> values = value instanceof SequenceNode sequence ? sequence.getValue() : List.of(value);
            if (values.isEmpty()) {
                problems.error(place(value), path, "takes " + expected(key) + "; " + name + " is an empty list");
                return;
            }
            for (Node one : values) {
                if (!(one instanceof ScalarNode scalar) || isNull(one)) {
                    problems.error(place(mapping), path, "takes " + expected(key) + "; " + name + " is " + kind(one));
                    return;
                }
                try {
                    String text = expanded(scalar.getValue(), path).strip();
                    if (text.indexOf('\n') >= 0) {
                        throw new InvalidValueException(name + ": the value has a line end");
                    }
                    lines.append(lines.isEmpty() ? "" : "\n")
                            .append(name)
                            .append(": ")
                            .append(text);
                } catch (InvalidValueException e) {
                    problems.error(place(one), path, e.problem(), e.suggestion());
                    return;
                }
            }
        }
        if (lines.isEmpty()) {
            problems.error(place(mapping), path, "has no field; it takes " + expected(key));
        } else if (problems.countExpanded(lines.length(), place(mapping))) {
            try {
                bindText(lines.toString(), key, into);
            } catch (InvalidValueException e) {
                problems.error(place(mapping), path, e.problem(), e.suggestion());
            }
        }
    }

    private <T> void bindScalar(ScalarNode node, ConfigKey<T> key, String path, ConfigValues.Builder into) {
        if (!problems.countExpanded(node.getValue().length(), place(node))) {
            return;
        }
        try {
            bindText(expanded(node.getValue(), path), key, into);
        } catch (InvalidValueException e) {
            problems.error(place(node), path, e.problem(), e.suggestion());
        }
    }

    private String expanded(String text, String path) throws InvalidValueException {
        return environment.expand(text, name -> problems.addVariable(path, name));
    }

    /** Parses the text of one scalar and sets the value. */
    <T> void bindText(String text, ConfigKey<T> key, ConfigValues.Builder into) throws InvalidValueException {
        T value = key.read(text);
        String refusal = documentKind == Kind.LOCAL || value == null ? null : PushedKeys.refusalOfValue(value);
        if (refusal != null) {
            throw new InvalidValueException(refusal);
        }
        if (value instanceof Path relative) {
            into.put(key, directory.resolve(relative).normalize());
        } else if (value instanceof ExtensionJar jar) {
            into.put(key, jar.readBelow(directory));
        } else if (value instanceof LoadedFile file) {
            into.put(key, file.readBelow(directory));
        } else if (value != null) {
            into.put(key, value);
        }
    }

    private TreeReader trees() {
        return new TreeReader(problems, this::place, this::expanded);
    }

    private void requireKeys(MappingNode mapping, ConfigShape shape, String path, Set<String> seen) {
        shape.required().forEach((name, key) -> {
            if (!seen.contains(name)) {
                problems.error(place(mapping), path + "." + name, "missing; it takes " + expected(key));
            }
        });
    }

    private void reportUnknownKey(Place place, ConfigShape shape, String name, String full) {
        if (!problems.hasRoom()) {
            problems.error(place, full, "unknown key");
            return;
        }
        boolean inRule = shape.path().startsWith("remap[]");
        String cacheRule = UNSUPPORTED_CACHE_RULE_KEYS.get(name.replace('-', '_'));
        if (cacheRule != null && shape.path().equals("cache_rules[]")) {
            problems.error(place, full, cacheRule);
            return;
        }
        if (name.equals("internal") && shape.path().equals("filters[]")) {
            problems.error(place, full, "is not supported, because this proxy has no internal requests");
            return;
        }
        String pathInRule = inRule ? shape.path().substring("remap[]".length()) : shape.path();
        String general = pathInRule.startsWith(".") ? pathInRule.substring(1) : pathInRule;
        if (inRule && ConfigShape.root().find(general.isEmpty() ? name : general + "." + name) != null) {
            problems.error(place, full, "cannot be set for one rule, only for all");
            return;
        }
        String suggestion = Suggestions.closest(name, shape.names());
        if (suggestion == null) {
            suggestion = uniquePath(name);
        } else {
            // The suggested key counts as unreadable, so that no check also reports the key as missing.
            problems.markUnreadable(full.substring(0, full.length() - name.length()) + suggestion);
        }
        problems.error(place, full, "unknown key", suggestion);
    }

    /** Returns the full path of the only key with this name. Returns null if there is none or more than one. */
    private static @Nullable String uniquePath(String name) {
        Set<String> paths = new HashSet<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.name().equals(name)) {
                paths.add(key.path());
            }
        }
        return paths.size() == 1 ? paths.iterator().next() : null;
    }

    private Place place(Node node) {
        if (override != null) {
            return override;
        }
        return node.getStartMark()
                .map((Mark mark) -> new Place(file, mark.getLine() + 1, mark.getColumn() + 1))
                .orElse(new Place(file, 0, 0));
    }

    private static String expected(ConfigKey<?> key) {
        String name = key.type().name();
        return ("aeio".indexOf(name.charAt(0)) >= 0 ? "an " : "a ") + name + " ("
                + key.type().unit() + ")";
    }

    private static String names(ConfigShape shape) {
        return "keys such as "
                + String.join(", ", shape.names().stream().limit(3).toList());
    }

    static boolean isNull(Node node) {
        return node instanceof ScalarNode && Tag.NULL.equals(node.getTag());
    }

    static String kind(Node node) {
        if (isNull(node)) {
            return "empty";
        }
        return node instanceof MappingNode ? "a section" : node instanceof SequenceNode ? "a list" : "a single value";
    }
}
