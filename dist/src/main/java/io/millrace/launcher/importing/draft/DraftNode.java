package io.millrace.launcher.importing.draft;

import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A node of the configuration that an import builds. It is a scalar, a list of words, a section or a list. It refers to
 * the source lines from which it was made. Confined to one thread.
 */
public final class DraftNode {
    /** Target URL of rules that deny all clients. No request is sent to it. */
    public static final String DENIED_TARGET = "http://closed.invalid/";

    private @Nullable String text;
    private @Nullable List<String> words;
    private final Map<String, DraftNode> fields = new LinkedHashMap<>();
    private final List<DraftNode> elements = new ArrayList<>();
    private final List<Entry> sources = new ArrayList<>();
    private final Set<String> remarks = new LinkedHashSet<>();
    private boolean element;
    private boolean removable;
    /** True after {@link #denyAllClients} has changed this rule. */
    private boolean closed;

    /**
     * Sets a scalar below this section. The path {@code cache.volume} means the field {@code volume} of section
     * {@code cache}.
     */
    public DraftNode put(String path, String value) {
        DraftNode node = findOrCreate(path);
        node.text = value;
        return node;
    }

    /** Sets a list of words below this section. The list may be empty. */
    public DraftNode putWords(String path, List<String> values) {
        DraftNode node = findOrCreate(path);
        node.words = List.copyOf(values);
        return node;
    }

    private DraftNode findOrCreate(String path) {
        DraftNode current = this;
        for (String name : path.split("\\.", -1)) {
            current = current.fields.computeIfAbsent(name, n -> new DraftNode());
        }
        return current;
    }

    /** Appends a new section to a list below this node. */
    public DraftNode addElement(String path) {
        DraftNode node = new DraftNode();
        node.element = true;
        findOrCreate(path).elements.add(node);
        return node;
    }

    /** Inserts a new section at the beginning of a list below this node. */
    public DraftNode addFirst(String path) {
        DraftNode node = new DraftNode();
        node.element = true;
        findOrCreate(path).elements.add(0, node);
        return node;
    }

    /** Inserts a word at the beginning of a list of sections and words. */
    public DraftNode addFirstWord(String path, String word) {
        DraftNode node = addFirst(path);
        node.text = word;
        return node;
    }

    /** Returns the elements of a list below this node. Returns an empty result if the list does not exist. */
    public List<DraftNode> elements(String path) {
        DraftNode list = find(path);
        return list == null ? List.of() : list.elements;
    }

    /**
     * Moves an element before the first element of its list that has a given field. Returns false if the element
     * already precedes that first element.
     */
    public boolean moveBefore(String path, DraftNode node, String field) {
        List<DraftNode> list = findOrCreate(path).elements;
        int first = 0;
        while (first < list.size() && !list.get(first).fields.containsKey(field)) {
            first++;
        }
        boolean behind = first < list.indexOf(node);
        if (behind) {
            list.remove(node);
            list.add(first, node);
        }
        return behind;
    }

    /** Appends a word, such as a filter name, to a list of sections and words. */
    public DraftNode addWord(String path, String word) {
        DraftNode node = addElement(path);
        node.text = word;
        return node;
    }

    /** Returns a deep copy. */
    public DraftNode copy() {
        DraftNode copy = new DraftNode();
        copy.text = text;
        copy.words = words;
        fields.forEach((name, field) -> copy.fields.put(name, field.copy()));
        elements.forEach(each -> copy.elements.add(each.copy()));
        copy.sources.addAll(sources);
        copy.remarks.addAll(remarks);
        copy.element = element;
        copy.removable = removable;
        return copy;
    }

    /** Appends a copy of a section, whose first field is replaced by {@code name} and {@code value}. */
    public DraftNode addElementLike(String path, DraftNode other, String name, String value) {
        DraftNode node = addElement(path);
        node.put(name, value);
        DraftNode copy = other.copy();
        copy.fields.entrySet().stream().skip(1).forEach(field -> node.fields.put(field.getKey(), field.getValue()));
        node.sources.addAll(copy.sources);
        return node;
    }

    /** Adds a source line. */
    public DraftNode from(Entry entry) {
        if (!sources.contains(entry)) {
            sources.add(entry);
        }
        return this;
    }

    /** Marks this node as removable if its value is invalid. Without this node, all other nodes keep their meaning. */
    public DraftNode removableIfInvalid() {
        removable = true;
        return this;
    }

    /** Adds a comment before this node; a repeated comment is written once. */
    public DraftNode remark(String remark) {
        remarks.add(remark);
        return this;
    }

    /** Returns a field by name; null if there is none. */
    @Nullable
    public DraftNode field(String name) {
        return fields.get(name);
    }

    /** Returns the node with a path; null if there is none. */
    @Nullable
    public DraftNode find(String path) {
        DraftNode current = this;
        for (String name : path.split("\\.", -1)) {
            current = current == null ? null : current.fields.get(name);
        }
        return current;
    }

    @Nullable
    DraftNode elementAt(int index) {
        return index < elements.size() ? elements.get(index) : null;
    }

    /** Removes a field of this section, if it exists. */
    public void clear(String name) {
        fields.remove(name);
    }

    void remove(DraftNode node) {
        fields.values().remove(node);
        elements.remove(node);
    }

    /**
     * Changes an invalid rule to a rule that denies all clients. If the rule were removed, its requests might match a
     * wider rule.
     *
     * @param invalidPath the path of the invalid key
     * @return false if the invalid key is the URL pattern of the rule, or if the rule was changed before
     */
    public boolean denyAllClients(String invalidPath) {
        // The first field of a rule is its verb, such as map; its value is the URL pattern.
        String verb = fields.keySet().iterator().next();
        if (closed || invalidPath.endsWith("." + verb)) {
            return false;
        }
        fields.keySet().retainAll(Set.of(verb));
        put("to", DENIED_TARGET);
        addElement("filters").put("action", "deny");
        closed = true;
        return true;
    }

    /** Returns true if this node is an element of a list. */
    public boolean isElement() {
        return element;
    }

    boolean isRemovableIfInvalid() {
        return removable;
    }

    boolean isLeaf() {
        return text != null || words != null;
    }

    /** Returns true if neither this node nor any node below it has a value. */
    boolean isEmpty() {
        return !isLeaf()
                && elements.stream().allMatch(DraftNode::isEmpty)
                && fields.values().stream().allMatch(DraftNode::isEmpty);
    }

    /** Returns the scalar; null if this node is not one. */
    @Nullable
    public String text() {
        return text;
    }

    /** Returns the list of words; null if this node is not one. */
    @Nullable
    public List<String> words() {
        return words;
    }

    /** Fields of a section, in the order of insertion. */
    public Map<String, DraftNode> fields() {
        return fields;
    }

    /** Elements of a list. */
    public List<DraftNode> elements() {
        return elements;
    }

    /** The source lines of this node. */
    public List<Entry> sources() {
        return sources;
    }

    Set<String> remarks() {
        return remarks;
    }

    /** Returns the source lines of this node and of all nodes below. */
    public Set<Entry> allSources() {
        Set<Entry> all = new LinkedHashSet<>(sources);
        fields.values().forEach(field -> all.addAll(field.allSources()));
        elements.forEach(each -> all.addAll(each.allSources()));
        return all;
    }

    /** Adds the paths of this node and its descendants to the entries of their source lines. */
    void recordKeys(String path) {
        sources.forEach(source -> source.recordKey(path));
        fields.forEach((name, field) -> field.recordKeys(path.isEmpty() ? name : path + "." + name));
        for (int i = 0; i < elements.size(); i++) {
            elements.get(i).recordKeys(path + "[" + i + "]");
        }
    }
}
