package io.millrace.launcher.ats.draft;

import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/**
 * A YAML document with lists at its top level, joined from one or more files. The files are those of a directory, or a
 * file and the files that its {@code #include} lines name. Confined to one thread.
 */
public final class JoinedYaml {
    /**
     * An element of a top-level list or a pair of a top-level mapping.
     *
     * @param name the key of a pair; empty for an element
     */
    public record Item(String name, Node node, Entry entry) {}

    /** The source file and line number of a line of the joined document. */
    private record Place(SourceFile file, int line) {}

    private final ImportState state;
    private final List<String> lines = new ArrayList<>();
    private final List<Place> places = new ArrayList<>();
    private final Set<String> included = new HashSet<>();
    private @Nullable Node root;

    private JoinedYaml(ImportState state) {
        this.state = state;
    }

    /**
     * Reads a file or a directory; returns null if there is none.
     *
     * @param includes whether {@code #include} lines are followed
     * @param keys the permitted top-level keys
     */
    public static @Nullable JoinedYaml read(ImportState state, String name, boolean includes, List<String> keys) {
        JoinedYaml joined = new JoinedYaml(state);
        if (state.isDirectory(name)) {
            for (String each : state.list(name)) {
                if (each.endsWith(".yaml")) {
                    joined.add(each, false);
                }
            }
        } else if (state.has(name)) {
            joined.add(name, includes);
        } else {
            return null;
        }
        joined.root = Yaml.root(joined.lines, joined::problem);
        for (Map.Entry<String, NodeTuple> pair : Yaml.pairs(joined.root).entrySet()) {
            joined.markProcessed(Yaml.line(pair.getValue().getKeyNode()));
            if (!keys.contains(pair.getKey())) {
                int first = Yaml.line(pair.getValue().getKeyNode());
                joined.entry(first, joined.endOf(pair.getKey())).notMapped("'" + pair.getKey() + "' is not understood");
            }
        }
        return joined;
    }

    private void add(String name, boolean includes) {
        SourceFile file = state.read(name);
        for (int i = 0; file != null && i < file.lines().size(); i++) {
            String line = file.lines().get(i);
            String[] words = line.strip().split("\\s+", -1);
            if (includes && line.startsWith("#include") && words.length > 1) {
                if (included.add(words[1])) {
                    include(file, i + 1, words[1]);
                }
            } else {
                lines.add(line);
                places.add(new Place(file, i + 1));
            }
        }
    }

    private void include(SourceFile file, int line, String name) {
        if (state.has(name)) {
            add(name, true);
        } else {
            file.problem(line, 1, name + ": no such file");
        }
    }

    private Place place(int line) {
        return places.get(Math.min(Math.max(line, 1), places.size()) - 1);
    }

    private void problem(int line, int column, String message) {
        if (!places.isEmpty()) {
            place(line).file.problem(place(line).line, column, message);
        }
    }

    private void markProcessed(int line) {
        place(line).file.markProcessed(place(line).line, place(line).line);
    }

    /** Returns the last line of the value of a top-level key. */
    private int endOf(String key) {
        int end = lines.size();
        int first = 0;
        for (Map.Entry<String, NodeTuple> pair : Yaml.pairs(root).entrySet()) {
            int line = Yaml.line(pair.getValue().getKeyNode());
            if (pair.getKey().equals(key)) {
                first = line;
            } else if (first > 0) {
                end = Math.min(end, line - 1);
            }
        }
        return Math.max(first, end);
    }

    private Entry entry(int first, int last) {
        Place place = place(first);
        StringBuilder text = new StringBuilder();
        int end = first;
        for (int i = first; i <= last && place(i).file.equals(place.file); i++) {
            String line = lines.get(i - 1).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                text.append(text.isEmpty() ? "" : " ").append(line);
                end = i;
            }
        }
        String dashLine = lines.get(first - 1);
        return place.file.entry(
                place.line,
                place.line + end - first,
                dashLine.length() - dashLine.stripLeading().length() + 1,
                text.toString());
    }

    /**
     * Returns the elements of a top-level list. The entry of an element contains all lines up to the next element.
     *
     * @param key key of the list; empty if the document is the list
     */
    public List<Item> items(String key) {
        List<Item> items = new ArrayList<>();
        List<Node> nodes = Yaml.elements(key.isEmpty() ? root : Yaml.value(root, key));
        for (int i = 0; i < nodes.size(); i++) {
            int first = Yaml.line(nodes.get(i));
            int last = i + 1 < nodes.size() ? Yaml.line(nodes.get(i + 1)) - 1 : endOf(key);
            items.add(new Item("", nodes.get(i), entry(dashLine(first), Math.max(first, last))));
        }
        return items;
    }

    /** Returns the pairs of a top-level mapping. The entry of a pair contains all lines up to the next pair. */
    public List<Item> pairs(String key) {
        List<Item> items = new ArrayList<>();
        List<Map.Entry<String, NodeTuple>> pairs =
                List.copyOf(Yaml.pairs(Yaml.value(root, key)).entrySet());
        for (int i = 0; i < pairs.size(); i++) {
            int first = Yaml.line(pairs.get(i).getValue().getKeyNode());
            int last =
                    i + 1 < pairs.size() ? Yaml.line(pairs.get(i + 1).getValue().getKeyNode()) - 1 : endOf(key);
            items.add(new Item(
                    pairs.get(i).getKey(),
                    pairs.get(i).getValue().getValueNode(),
                    entry(first, Math.max(first, last))));
        }
        return items;
    }

    /** Returns true if a top-level key exists. */
    boolean has(String key) {
        return Yaml.value(root, key) != null;
    }

    /** Returns the line of an element's dash. An anchor after the dash may be on a line before the value. */
    private int dashLine(int line) {
        int at = line;
        while (at > 1 && !lines.get(at - 1).strip().startsWith("-")) {
            at--;
        }
        return at;
    }
}
