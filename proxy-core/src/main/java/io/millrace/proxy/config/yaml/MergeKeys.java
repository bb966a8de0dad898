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
 * Merge keys of YAML: {@code <<: *defaults} takes the keys of another section that this one does not set itself.
 *
 * <p>Source: https://yaml.org/type/merge.html. Nodes keep their marks, so that a problem in a merged key is reported where the key
 * stands. No state.
 */
final class MergeKeys {
    /** Sections that one section may merge, with those that they merge. */
    static final int SECTIONS_MAX = 100;

    private static final String KEY = "<<";

    private MergeKeys() {}

    /**
     * The section's own keys, then those that it merges and does not have. The first of several merged sections wins.
     *
     * @param problems takes what cannot be merged
     */
    static List<NodeTuple> merged(MappingNode mapping, BiConsumer<Node, String> problems) {
        if (mapping.getValue().stream().noneMatch(MergeKeys::isMerge)) {
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
                    problems.accept(tuple.getKeyNode(), "<< must have a section or a list of sections, such as *defaults");
                    return;
                }
                if (sections.size() > SECTIONS_MAX) {
                    problems.accept(tuple.getKeyNode(), "<< merges more sections than the limit of " + SECTIONS_MAX);
                    return;
                }
                // A section that was merged before has nothing to add.
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

    /** False for a name that is there. A key that is no word is reported by the binder. */
    private static boolean addName(NodeTuple tuple, Set<String> names) {
        return !(tuple.getKeyNode() instanceof ScalarNode scalar) || names.add(scalar.getValue());
    }

    private static boolean isMerge(NodeTuple tuple) {
        return tuple.getKeyNode() instanceof ScalarNode scalar
                && scalar.getScalarStyle() == ScalarStyle.PLAIN
                && scalar.getValue().equals(KEY);
    }
}
