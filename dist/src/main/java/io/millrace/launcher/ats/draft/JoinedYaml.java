package io.millrace.launcher.ats.draft;

import io.millrace.launcher.ats.source.Entry;
import io.millrace.launcher.ats.source.SourceFile;
import io.millrace.launcher.ats.source.Yaml;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/**
 * A file of YAML with lists at its top, or several that are read as one: by {@code #include} lines, or all files of a directory.
 * Confined to one thread.
 */
public final class JoinedYaml {
    /**
     * An element of a list at the top, or a pair of a mapping there, with its lines.
     *
     * @param name the key of a pair; empty for an element
     */
    public record Item(String name, Node node, Entry entry) {}

    private record Place(SourceFile file, int line) {}

    private final Input input;
    private final List<String> lines = new ArrayList<>();
    private final List<Place> places = new ArrayList<>();
    private final Set<String> included = new HashSet<>();
    private @Nullable Node root;

    private JoinedYaml(Input input) {
        this.input = input;
    }

    /**
     * Reads a file or a directory; null when there is none.
     *
     * @param includes whether {@code #include} names another file
     * @param keys what may stand at the top
     */
    public static @Nullable JoinedYaml read(Input input, String name, boolean includes, List<String> keys) {
        JoinedYaml joined = new JoinedYaml(input);
        if (input.isDirectory(name)) {
            for (String each : input.list(name)) {
                if (each.endsWith(".yaml")) {
                    joined.add(each, false);
                }
            }
        } else if (input.has(name)) {
            joined.add(name, includes);
        } else {
            return null;
        }
        joined.root = Yaml.root(joined.lines, joined::problem);
        for (Map.Entry<String, NodeTuple> pair : Yaml.pairs(joined.root).entrySet()) {
            joined.claim(Yaml.line(pair.getValue().getKeyNode()));
            if (!keys.contains(pair.getKey())) {
                int first = Yaml.line(pair.getValue().getKeyNode());
                joined.entry(first, joined.endOf(pair.getKey())).notMapped("'" + pair.getKey() + "' is not understood");
            }
        }
        return joined;
    }

    private void add(String name, boolean includes) {
        SourceFile file = input.read(name);
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
        if (input.has(name)) {
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

    private void claim(int line) {
        place(line).file.claim(place(line).line, place(line).line);
    }

    /** The last line of what stands below a key at the top. */
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
        String begin = lines.get(first - 1);
        return place.file.entry(
                place.line,
                place.line + end - first,
                begin.length() - begin.stripLeading().length() + 1,
                text.toString());
    }

    /**
     * The elements of a list at the top; each has its lines up to the next one's.
     *
     * @param key empty where the list is all that there is
     */
    public List<Item> items(String key) {
        List<Item> items = new ArrayList<>();
        List<Node> nodes = Yaml.elements(key.isEmpty() ? root : Yaml.value(root, key));
        for (int i = 0; i < nodes.size(); i++) {
            int first = Yaml.line(nodes.get(i));
            int last = i + 1 < nodes.size() ? Yaml.line(nodes.get(i + 1)) - 1 : endOf(key);
            items.add(new Item("", nodes.get(i), entry(begin(first), Math.max(first, last))));
        }
        return items;
    }

    /** The pairs of a mapping at the top; each has its lines up to the next one's. */
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

    /** Whether there is such a key at the top. */
    boolean has(String key) {
        return Yaml.value(root, key) != null;
    }

    /** The line of the dash: an anchor may have one of its own. */
    private int begin(int line) {
        int at = line;
        while (at > 1 && !lines.get(at - 1).strip().startsWith("-")) {
            at--;
        }
        return at;
    }
}
