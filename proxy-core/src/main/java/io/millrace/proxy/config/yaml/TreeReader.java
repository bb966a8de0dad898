package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.InvalidValueException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Converts YAML nodes to sections whose keys this proxy does not define, such as settings of extensions. Reports all
 * problems. Confined to one thread.
 */
final class TreeReader {
    /** Limit of sections and lists within each other. */
    static final int DEPTH_MAX = 20;

    /** Replaces environment variables in a text. */
    interface Expansion {
        /**
         * @param path path of the key, under which the names of its variables are recorded
         * @throws InvalidValueException if a variable is not set
         */
        String expand(String text, String path) throws InvalidValueException;
    }

    private final ConfigProblems problems;
    private final Function<Node, Place> places;
    private final Expansion expansion;

    TreeReader(ConfigProblems problems, Function<Node, Place> places, Expansion expansion) {
        this.problems = problems;
        this.places = places;
        this.expansion = expansion;
    }

    /**
     * Reads a section.
     *
     * @param depth number of sections and lists around it
     * @return null after an error, which was reported
     */
    @Nullable
    ConfigTree section(MappingNode mapping, String path, int depth) {
        Map<String, ConfigTree> children = new LinkedHashMap<>();
        boolean failed = false;
        for (NodeTuple tuple :
                MergeKeys.merged(mapping, (node, problem) -> problems.error(places.apply(node), path, problem))) {
            Node keyNode = tuple.getKeyNode();
            if (!(keyNode instanceof ScalarNode scalar)) {
                problems.error(
                        places.apply(keyNode), path, "a key must be a word, this is " + ConfigBinder.kind(keyNode));
                return null;
            }
            String below = path + "." + scalar.getValue();
            ConfigTree child = node(tuple.getValueNode(), below, depth + 1);
            if (child != null && children.put(scalar.getValue(), child) != null) {
                problems.error(places.apply(keyNode), below, "set twice");
            }
            failed |= child == null;
        }
        return failed
                ? null
                : ConfigTree.section(children, places.apply(mapping).text());
    }

    private @Nullable ConfigTree node(Node node, String path, int depth) {
        Place place = places.apply(node);
        if (depth > DEPTH_MAX) {
            problems.error(place, path, "is nested more deeply than the limit of " + DEPTH_MAX);
            return null;
        }
        int length = node instanceof ScalarNode scalar ? scalar.getValue().length() : 1;
        if (!problems.countExpanded(length, place)) {
            return null;
        }
        if (node instanceof MappingNode mapping) {
            return section(mapping, path, depth);
        }
        if (node instanceof SequenceNode sequence) {
            return list(sequence, path, depth);
        }
        if (ConfigBinder.isNull(node)) {
            problems.error(place, path, "has no value");
            return null;
        }
        try {
            return ConfigTree.text(expansion.expand(((ScalarNode) node).getValue(), path), place.text());
        } catch (InvalidValueException e) {
            problems.error(place, path, e.problem(), e.suggestion());
            return null;
        }
    }

    private @Nullable ConfigTree list(SequenceNode sequence, String path, int depth) {
        List<ConfigTree> elements = new ArrayList<>();
        for (Node element : sequence.getValue()) {
            ConfigTree child = node(element, path + "[" + elements.size() + "]", depth + 1);
            if (child == null) {
                return null;
            }
            elements.add(child);
        }
        return ConfigTree.list(elements, places.apply(sequence).text());
    }
}
