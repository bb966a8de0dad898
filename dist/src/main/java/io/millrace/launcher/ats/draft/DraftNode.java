package io.millrace.launcher.ats.draft;

import io.millrace.launcher.ats.source.Entry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A scalar, a list of words, a section or a list of the configuration that is being written, with where it came from. */
public final class DraftNode {
    /** Target of rules that nobody passes. */
    public static final String CLOSED = "http://closed.invalid/";

    private @Nullable String text;
    private @Nullable List<String> words;
    private final Map<String, DraftNode> fields = new LinkedHashMap<>();
    private final List<DraftNode> elements = new ArrayList<>();
    private final List<Entry> sources = new ArrayList<>();
    private final Set<String> remarks = new LinkedHashSet<>();
    private boolean element;
    private boolean optional;
    private boolean closed;

    /** Writes a scalar below this section; {@code cache.volume} goes into the section {@code cache}. */
    public DraftNode put(String path, String value) {
        DraftNode node = place(path);
        node.text = value;
        return node;
    }

    /** The same of a list of words, which may be empty. */
    public DraftNode putWords(String path, List<String> values) {
        DraftNode node = place(path);
        node.words = List.copyOf(values);
        return node;
    }

    private DraftNode place(String path) {
        DraftNode at = this;
        for (String name : path.split("\\.", -1)) {
            at = at.fields.computeIfAbsent(name, n -> new DraftNode());
        }
        return at;
    }

    /** A new section at the end of a list below this one. */
    public DraftNode element(String path) {
        DraftNode node = new DraftNode();
        node.element = true;
        place(path).elements.add(node);
        return node;
    }

    /** A new section in front of a list below this one. */
    public DraftNode first(String path) {
        DraftNode node = new DraftNode();
        node.element = true;
        place(path).elements.add(0, node);
        return node;
    }

    /** A new word in front of a list of sections and words. */
    public DraftNode firstWord(String path, String word) {
        DraftNode node = first(path);
        node.text = word;
        return node;
    }

    /** The elements of a list below this one, none where it is not there. */
    public List<DraftNode> elements(String path) {
        DraftNode list = find(path);
        return list == null ? List.of() : list.elements;
    }

    /** Moves an element in front of the first one of its list that has a field; false where it stands there already. */
    public boolean moveBefore(String path, DraftNode node, String field) {
        List<DraftNode> list = place(path).elements;
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

    /** A new word at the end of a list of sections and words, such as a filter's name. */
    public DraftNode elementWord(String path, String word) {
        DraftNode node = element(path);
        node.text = word;
        return node;
    }

    /** All of it once more. */
    public DraftNode copy() {
        DraftNode copy = new DraftNode();
        copy.text = text;
        copy.words = words;
        fields.forEach((name, field) -> copy.fields.put(name, field.copy()));
        elements.forEach(each -> copy.elements.add(each.copy()));
        copy.sources.addAll(sources);
        copy.remarks.addAll(remarks);
        copy.element = element;
        copy.optional = optional;
        return copy;
    }

    /** A section at the end of a list below this one, with the fields of another one but the first, in whose place another stands. */
    public DraftNode elementLike(String path, DraftNode other, String name, String value) {
        DraftNode node = element(path);
        node.put(name, value);
        DraftNode copy = other.copy();
        copy.fields.entrySet().stream().skip(1).forEach(field -> node.fields.put(field.getKey(), field.getValue()));
        node.sources.addAll(copy.sources);
        return node;
    }

    /** Remembers where it came from. */
    public DraftNode from(Entry entry) {
        if (!sources.contains(entry)) {
            sources.add(entry);
        }
        return this;
    }

    /** Marks what may be taken out alone without changing the meaning of what is around it. */
    public DraftNode optional() {
        optional = true;
        return this;
    }

    /** Adds a comment before this node; a repeated one counts once. */
    public DraftNode remark(String remark) {
        remarks.add(remark);
        return this;
    }

    /** The field of that name; null when there is none. */
    @Nullable
    public DraftNode field(String name) {
        return fields.get(name);
    }

    /** The node of that path; null when there is none. */
    @Nullable
    public DraftNode find(String path) {
        DraftNode at = this;
        for (String name : path.split("\\.", -1)) {
            at = at == null ? null : at.fields.get(name);
        }
        return at;
    }

    @Nullable
    DraftNode at(int index) {
        return index < elements.size() ? elements.get(index) : null;
    }

    /** Takes a field out of this section, where it is there. */
    public void clear(String name) {
        fields.remove(name);
    }

    void remove(DraftNode node) {
        fields.values().remove(node);
        elements.remove(node);
    }

    /**
     * Makes a rule that nobody passes of one that cannot be said, so that its requests do not meet a wider one.
     *
     * @param fault the path of what cannot be said
     * @return false where that is what the rule is for
     */
    public boolean close(String fault) {
        String verb = fields.keySet().iterator().next();
        if (closed || fault.endsWith("." + verb)) {
            return false;
        }
        fields.keySet().retainAll(Set.of(verb));
        put("to", CLOSED);
        element("filters").put("action", "deny");
        closed = true;
        return true;
    }

    /** Whether it is an element of a list. */
    public boolean isElement() {
        return element;
    }

    boolean isOptional() {
        return optional;
    }

    boolean isLeaf() {
        return text != null || words != null;
    }

    /** Nothing is in it. */
    boolean isEmpty() {
        return !isLeaf()
                && elements.stream().allMatch(DraftNode::isEmpty)
                && fields.values().stream().allMatch(DraftNode::isEmpty);
    }

    /** The scalar; null when it is none. */
    @Nullable
    public String text() {
        return text;
    }

    @Nullable
    List<String> words() {
        return words;
    }

    /** Fields of a section, in the order of their making. */
    public Map<String, DraftNode> fields() {
        return fields;
    }

    /** Elements of a list. */
    public List<DraftNode> elements() {
        return elements;
    }

    /** The lines that it came from. */
    public List<Entry> sources() {
        return sources;
    }

    Set<String> remarks() {
        return remarks;
    }

    /** All that it and what is in it came from. */
    public Set<Entry> allSources() {
        Set<Entry> all = new LinkedHashSet<>(sources);
        fields.values().forEach(field -> all.addAll(field.allSources()));
        elements.forEach(each -> all.addAll(each.allSources()));
        return all;
    }

    void tell(String path) {
        sources.forEach(source -> source.became(path));
        fields.forEach((name, field) -> field.tell(path.isEmpty() ? name : path + "." + name));
        for (int i = 0; i < elements.size(); i++) {
            elements.get(i).tell(path + "[" + i + "]");
        }
    }
}
