package io.millrace.launcher.nginx.syntax;

import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.List;

/** A directive of an nginx configuration: name, arguments, block, and line in the report. Confined to one thread. */
public final class Directive {
    private final String name;
    private final List<String> args;
    private final Entry entry;
    private final boolean block;
    private final List<Directive> children = new ArrayList<>();
    private boolean handled;

    /**
     * Creates a directive without children.
     *
     * @param args words after the name, without quotes
     * @param block whether the directive has a block in braces
     */
    public Directive(String name, List<String> args, Entry entry, boolean block) {
        this.name = name;
        this.args = List.copyOf(args);
        this.entry = entry;
        this.block = block;
    }

    /** The first word. */
    public String name() {
        return name;
    }

    /** The words after the name. */
    public List<String> args() {
        return args;
    }

    /** Returns a word after the name; empty beyond the last. */
    public String arg(int index) {
        return index < args.size() ? args.get(index) : "";
    }

    /** Returns the last word; empty without words. */
    public String lastArg() {
        return args.isEmpty() ? "" : args.get(args.size() - 1);
    }

    /** Returns all words after the name, joined by blanks. */
    public String text() {
        return String.join(" ", args);
    }

    /** Returns true if the first word after the name is {@code on}. */
    public boolean isOn() {
        return arg(0).equalsIgnoreCase("on");
    }

    /** The line in the report. */
    public Entry entry() {
        return entry;
    }

    /** Returns true if the directive has a block. */
    public boolean hasBlock() {
        return block;
    }

    /**
     * The directives of the block. An include directive is replaced by the directives of its files. The reader extends
     * the list.
     */
    public List<Directive> children() {
        return children;
    }

    /** Returns the children with a name. */
    public List<Directive> children(String child) {
        return children.stream().filter(one -> one.name.equals(child)).toList();
    }

    /** Marks the directive as translated, and returns its line in the report. */
    public Entry markHandled() {
        handled = true;
        return entry;
    }

    /** Marks the directive as translated, with a note. The report lists a directive with only notes as 'no effect'. */
    public void note(String note) {
        markHandled().note(note);
    }

    /** Marks the directive, or a part of it, as having no equivalent. */
    public void notMapped(String why) {
        markHandled().notMapped(why);
    }

    /** Returns true once a part of the import has translated or reported the directive. */
    public boolean isHandled() {
        return handled;
    }
}
