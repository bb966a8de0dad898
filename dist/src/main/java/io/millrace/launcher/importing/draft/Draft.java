package io.millrace.launcher.importing.draft;

import io.millrace.launcher.importing.source.Entry;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The configuration that an import builds. Confined to one thread. */
public final class Draft {
    private static final Pattern STEP = Pattern.compile("([^.\\[\\]]+)|\\[(\\d+)]");

    private final DraftNode root = new DraftNode();

    /** Keys that a line sets to Millrace's default, and that are therefore not written. */
    private final Set<String> same = new HashSet<>();

    /** The root of the configuration. */
    public DraftNode root() {
        return root;
    }

    /** Sets a general key. If the value is the default, nothing is written, and the entry is marked as same. */
    public void set(String key, String text, Entry entry) {
        if (isDefault(key, text)) {
            entry.same(key);
            same.add(key);
        } else {
            root.put(key, text).from(entry);
        }
    }

    /** Like {@link #set(String, String, Entry)}, for a list of words. */
    public void set(String key, List<String> words, Entry entry) {
        if (isDefault(key, String.join(", ", words))) {
            entry.same(key);
            same.add(key);
        } else {
            root.putWords(key, words).from(entry);
        }
    }

    /** Writes a default of the other proxy that differs from Millrace's, if the key was not set. */
    public void setDefault(String key, String text, String proxy, String setting) {
        if (root.find(key) == null && !same.contains(key) && !isDefault(key, text)) {
            DraftNode node = text.startsWith("[") ? root.putWords(key, wordsIn(text)) : root.put(key, text);
            node.remark(proxy + "'s default (" + setting + "); without the line: " + ours(key));
        }
    }

    /** Writes a default of Traffic Server, as {@link #setDefault(String, String, String, String)} does. */
    public void setDefault(String key, String text, String record) {
        setDefault(key, text, "Traffic Server", record);
    }

    private static List<String> wordsIn(String list) {
        String inside = list.substring(1, list.length() - 1).strip();
        return inside.isEmpty() ? List.of() : List.of(inside.split("[\\s,;]+", -1));
    }

    /** Returns true if the text is the default of the key. */
    public static boolean isDefault(String key, String text) {
        ConfigKey<?> known = ConfigCatalog.find(key);
        return known != null && known.isDefault(text);
    }

    private static String ours(String key) {
        ConfigKey<?> known = ConfigCatalog.find(key);
        String text = known == null ? null : known.defaultText();
        return text == null ? "none" : text;
    }

    /** Appends a new element to a list. */
    public DraftNode element(String list, Entry entry) {
        return root.element(list).from(entry);
    }

    /** Returns the elements of a list; empty if the list does not exist. */
    public List<DraftNode> elements(String list) {
        return root.elements(list);
    }

    /** A removable node and its owner. */
    public record Part(DraftNode owner, DraftNode node) {
        /** Removes the node from its owner. */
        public void remove() {
            owner.remove(node);
        }
    }

    /**
     * Returns the smallest part that can be removed safely for an invalid key: a setting, or the list element that
     * contains it.
     *
     * @param path the path in the validator's message, such as {@code remap[2].cache.volume}
     * @return null if there is no such part
     */
    @Nullable
    public Part find(String path) {
        DraftNode at = root;
        Part part = null;
        Matcher step = STEP.matcher(path);
        while (step.find()) {
            DraftNode next = step.group(1) != null ? at.field(step.group(1)) : at.at(Integer.parseInt(step.group(2)));
            if (next == null) {
                break;
            }
            if (part == null || !part.node.isElement() || next.isOptional()) {
                part = new Part(at, next);
            }
            at = next;
        }
        return part == null || (!part.node.isElement() && !part.node.isLeaf()) ? null : part;
    }

    /** Records at every entry the keys that were written for it. */
    public void recordKeys() {
        root.recordKeys("");
    }

    /** Returns the text of the file. */
    public String text(List<String> head, List<String> tail) {
        return new DraftWriter().write(root, head, tail);
    }
}
