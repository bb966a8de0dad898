package io.millrace.launcher.ats.draft;

import io.millrace.launcher.ats.source.Entry;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The configuration that is being written. Confined to one thread. */
public final class Draft {
    private static final Pattern STEP = Pattern.compile("([^.\\[\\]]+)|\\[(\\d+)]");

    private final DraftNode root = new DraftNode();

    /** The whole configuration. */
    public DraftNode root() {
        return root;
    }

    /** Sets a key for all rules; nothing is written where that is the default, which the entry is told. */
    public void set(String key, String text, Entry entry) {
        if (isDefault(key, text)) {
            entry.same(key);
        } else {
            root.put(key, text).from(entry);
        }
    }

    /** The same of a list of words. */
    public void set(String key, List<String> words, Entry entry) {
        if (isDefault(key, String.join(", ", words))) {
            entry.same(key);
        } else {
            root.putWords(key, words).from(entry);
        }
    }

    /** Writes what Traffic Server does without any setting, where that differs and nothing was set. */
    public void setDefault(String key, String text, String record) {
        if (root.find(key) == null && !isDefault(key, text)) {
            DraftNode node = text.startsWith("[") ? root.putWords(key, wordsIn(text)) : root.put(key, text);
            node.remark("Traffic Server's default (" + record + "); without the line: " + ours(key));
        }
    }

    private static List<String> wordsIn(String list) {
        return RecordTable.split(list.substring(1, list.length() - 1));
    }

    static boolean isDefault(String key, String text) {
        ConfigKey<?> known = ConfigCatalog.find(key);
        return known != null && known.isDefault(text);
    }

    private static String ours(String key) {
        ConfigKey<?> known = ConfigCatalog.find(key);
        String text = known == null ? null : known.defaultText();
        return text == null ? "none" : text;
    }

    /** A new element of a list. */
    public DraftNode element(String list, Entry entry) {
        return root.element(list).from(entry);
    }

    /** The elements of a list, none where it is not there. */
    public List<DraftNode> elements(String list) {
        return root.elements(list);
    }

    /** What can be taken out, and where it stands. */
    public record Part(DraftNode owner, DraftNode node) {
        /** Takes it out of its owner. */
        public void remove() {
            owner.remove(node);
        }
    }

    /**
     * Finds what to take out for a fault, as little as keeps the meaning safe: a setting, or the whole element of a list that it stands
     * in.
     *
     * @param path as the validator names it, such as {@code remap[2].cache.volume}
     * @return null when there is no such thing
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

    /** Tells every entry what it became. */
    public void tell() {
        root.tell("");
    }

    /** The file's text. */
    public String text(List<String> head, List<String> tail) {
        return new DraftWriter().write(root, head, tail);
    }
}
