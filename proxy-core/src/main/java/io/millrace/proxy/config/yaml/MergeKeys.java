package io.millrace.proxy.config.yaml;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Expands merge keys of YAML. {@code <<: *defaults} adds the keys of another section that this section does not set.
 *
 * <p>Source: https://yaml.org/type/merge.html. Nodes keep their marks, so a problem in a merged key is reported at the
 * position of the key. Stateless.
 */
final class MergeKeys {
    /** Limit of sections that one section may merge, directly or indirectly. */
    static final int SECTIONS_MAX = 100;

    private static final String KEY = "<<";

    private MergeKeys() {}

    /**
     * Returns the section's own keys, followed by the merged keys that it does not set. Of several merged sections the
     * first takes precedence.
     *
     * @param problems receives a message for each node that cannot be merged
     */
    static List<NodeTuple> merged(MappingNode mapping, BiConsumer<Node, String> problems) {
        if (!hasMerge(mapping)) {
            return mapping.getValue();
        }
        List<NodeTuple> tuples = new ArrayList<>();
        Set<Node> sections = Collections.newSetFromMap(new IdentityHashMap<>());
        sections.add(mapping);
        for (NodeTuple tuple : mapping.getValue()) {
            if (!isMerge(tuple)) {
                tuples.add(tuple);
            }
        }
        Set<String> names = new HashSet<>();
        tuples.forEach(tuple -> addName(tuple, names));
        mergeInto(tuples, names, mapping, sections, problems);
        return tuples;
    }

    private static boolean hasMerge(MappingNode mapping) {
        for (NodeTuple tuple : mapping.getValue()) {
            if (isMerge(tuple)) {
                return true;
            }
        }
        return false;
    }

    private static void mergeInto(
            List<NodeTuple> tuples,
            Set<String> names,
            MappingNode mapping,
            Set<Node> sections,
            BiConsumer<Node, String> problems) {
        for (NodeTuple tuple : mapping.getValue()) {
            if (!isMerge(tuple)) {
                continue;
            }
            Node value = tuple.getValueNode();
            List<Node> merged = value instanceof SequenceNode list ? list.getValue() : List.of(value);
            for (Node each : merged) {
                if (!(each instanceof MappingNode section)) {
                    problems.accept(
                            tuple.getKeyNode(), "<< must have a section or a list of sections, such as *defaults");
                    return;
                }
                if (sections.size() > SECTIONS_MAX) {
                    problems.accept(tuple.getKeyNode(), "<< merges more sections than the limit of " + SECTIONS_MAX);
                    return;
                }
                // A section that was merged before adds nothing.
                if (sections.add(section)) {
                    for (NodeTuple other : section.getValue()) {
                        if (!isMerge(other) && addName(other, names)) {
                            tuples.add(other);
                        }
                    }
                    mergeInto(tuples, names, section, sections, problems);
                }
            }
        }
    }

    /**
     * Adds the name of a key; returns false if it was added before. A key that is not a scalar is kept, and
     * ConfigBinder reports it.
     */
    private static boolean addName(NodeTuple tuple, Set<String> names) {
        return !(tuple.getKeyNode() instanceof ScalarNode scalar) || names.add(scalar.getValue());
    }

    private static boolean isMerge(NodeTuple tuple) {
        return tuple.getKeyNode() instanceof ScalarNode scalar
                && scalar.getScalarStyle() == ScalarStyle.PLAIN
                && scalar.getValue().equals(KEY);
    }
}
