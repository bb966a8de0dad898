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
    /** One step of a path: a field name, or an index in brackets. */
    private static final Pattern STEP = Pattern.compile("([^.\\[\\]]+)|\\[(\\d+)]");

    private final DraftNode root = new DraftNode();

    /** Keys that are not written, because a line sets them to Millrace's default. */
    private final Set<String> defaults = new HashSet<>();

    /** The root of the configuration. */
    public DraftNode root() {
        return root;
    }

    /** Sets a key outside of lists. If the value is the default, writes nothing, and marks the entry as the default. */
    public void set(String key, String text, Entry entry) {
        if (isDefault(key, text)) {
            entry.matchesDefaultOf(key);
            defaults.add(key);
        } else {
            root.put(key, text).from(entry);
        }
    }

    /**
     * Sets a key to a list of words. If the value is the default, writes nothing, and marks the entry as the default.
     */
    public void set(String key, List<String> words, Entry entry) {
        if (isDefault(key, String.join(", ", words))) {
            entry.matchesDefaultOf(key);
            defaults.add(key);
        } else {
            root.putWords(key, words).from(entry);
        }
    }

    /** Writes a default of another proxy. Does nothing if the key was set or Millrace has the same default. */
    public void setDefault(String key, String text, String proxy, String setting) {
        if (root.find(key) == null && !defaults.contains(key) && !isDefault(key, text)) {
            DraftNode node = text.startsWith("[") ? root.putWords(key, wordsIn(text)) : root.put(key, text);
            node.remark(proxy + "'s default (" + setting + "); without the line: " + millraceDefault(key));
        }
    }

    /** Writes a default of Traffic Server. Does nothing if the key was set or Millrace has the same default. */
    public void setDefault(String key, String text, String record) {
        setDefault(key, text, "Traffic Server", record);
    }

    private static List<String> wordsIn(String list) {
        String inside = list.substring(1, list.length() - 1).strip();
        return inside.isEmpty() ? List.of() : List.of(inside.split("[\\s,;]+", -1));
    }

    /** Returns true if the text is the default of the key. */
    public static boolean isDefault(String key, String text) {
        ConfigKey<?> configKey = ConfigCatalog.find(key);
        return configKey != null && configKey.isDefault(text);
    }

    private static String millraceDefault(String key) {
        ConfigKey<?> configKey = ConfigCatalog.find(key);
        String text = configKey == null ? null : configKey.defaultText();
        return text == null ? "none" : text;
    }

    /** Appends a new element to a list. */
    public DraftNode addElement(String list, Entry entry) {
        return root.addElement(list).from(entry);
    }

    /** Returns the elements of a list; empty if the list does not exist. */
    public List<DraftNode> elements(String list) {
        return root.elements(list);
    }

    /** A node that can be removed, and the node that contains it. */
    public record Part(DraftNode owner, DraftNode node) {
        /** Removes the node from its owner. */
        public void remove() {
            owner.remove(node);
        }
    }

    /**
     * Returns the part to remove because of an invalid key: a setting or a list element. It is the smallest part that
     * can be removed without a change in the meaning of the other parts.
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
            DraftNode next =
                    step.group(1) != null ? at.field(step.group(1)) : at.elementAt(Integer.parseInt(step.group(2)));
            if (next == null) {
                break;
            }
            if (part == null || !part.node.isElement() || next.isRemovableIfInvalid()) {
                part = new Part(at, next);
            }
            at = next;
        }
        return part == null || (!part.node.isElement() && !part.node.isLeaf()) ? null : part;
    }

    /** Adds the written keys to the entries of their source lines. */
    public void recordKeys() {
        root.recordKeys("");
    }

    /** Returns the text of the file. */
    public String text(List<String> head, List<String> tail) {
        return new DraftWriter().write(root, head, tail);
    }
}
