package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.Environment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * Reads a configuration that {@code fleet config push} has sent. It has keys for all nodes, and the sections {@code
 * tiers} and {@code nodes} with further keys by name of tier or node (overlays). The values of overlays replace earlier
 * values. A list whose key is permitted in included files, such as {@code remap}, is appended to the earlier list
 * instead. Confined to one thread.
 */
final class PushedDocument {
    private static final String TIERS = "tiers";
    private static final String NODES = "nodes";

    private final String name;
    private final Path directory;
    private final Environment environment;
    private final ConfigProblems problems;

    PushedDocument(String name, Path directory, Environment environment, ConfigProblems problems) {
        this.name = name;
        this.directory = directory;
        this.environment = environment;
        this.problems = problems;
    }

    /**
     * Adds the values for one node to those of its local file.
     *
     * @param node name of the node, which is the value of <code>${fleet.node}</code>
     * @param tier name of its tier
     */
    void bind(Node root, String node, @Nullable String tier, ConfigValues.Builder into) {
        String tierName = tier == null ? "" : tier;
        Environment ofNode = environment.ofNode(node, tierName);
        if (!(root instanceof MappingNode mapping)) {
            binder(ConfigBinder.Kind.PUSHED, ofNode).bindRoot(root, into);
            return;
        }
        List<NodeTuple> common = new ArrayList<>();
        List<NodeTuple> tiers = new ArrayList<>();
        List<NodeTuple> nodes = new ArrayList<>();
        for (NodeTuple tuple : mapping.getValue()) {
            String key = tuple.getKeyNode() instanceof ScalarNode scalar ? scalar.getValue() : "";
            (key.equals(TIERS) ? tiers : key.equals(NODES) ? nodes : common).add(tuple);
        }
        MappingNode base = new MappingNode(
                Tag.MAP, true, common, mapping.getFlowStyle(), mapping.getStartMark(), mapping.getEndMark());
        binder(ConfigBinder.Kind.PUSHED, ofNode).bindRoot(base, into);
        bindOverlays(TIERS, tiers, tierName, ofNode, into);
        bindOverlays(NODES, nodes, node, ofNode, into);
    }

    private void bindOverlays(
            String section, List<NodeTuple> found, String own, Environment ofNode, ConfigValues.Builder into) {
        for (NodeTuple tuple : found.subList(0, Math.min(1, found.size()))) {
            if (!(tuple.getValueNode() instanceof MappingNode overlays)) {
                problems.error(place(tuple.getKeyNode()), section, "must be a section with names of " + section);
                return;
            }
            Set<String> seen = new HashSet<>();
            for (NodeTuple overlay : overlays.getValue()) {
                String key = overlay.getKeyNode() instanceof ScalarNode scalar ? scalar.getValue() : "";
                Place place = place(overlay.getKeyNode());
                if (!FleetConfig.isName(key)) {
                    problems.error(
                            place, section, "'" + key + "' is not a name: letters, digits, '-' and '_' are permitted");
                } else if (!seen.add(key)) {
                    problems.error(place, section + "." + key, "set twice");
                } else if (key.equals(own)) {
                    binder(ConfigBinder.Kind.OVERLAY, ofNode).bindRoot(overlay.getValueNode(), into);
                } else {
                    binder(ConfigBinder.Kind.OVERLAY_OF_OTHERS, ofNode)
                            .bindRoot(overlay.getValueNode(), ConfigValues.builder());
                }
            }
        }
        if (found.size() > 1) {
            problems.error(place(found.get(1).getKeyNode()), section, "set twice");
        }
    }

    private ConfigBinder binder(ConfigBinder.Kind kind, Environment ofNode) {
        return new ConfigBinder(name, null, directory, ofNode, problems, kind);
    }

    private Place place(Node node) {
        return node.getStartMark()
                .map(mark -> new Place(name, mark.getLine() + 1, mark.getColumn() + 1))
                .orElse(new Place(name, 0, 0));
    }
}
