package io.millrace.launcher.nginx.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A block, together with the enclosing blocks from which it inherits directives. Immutable. */
public final class Scope {
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{?([A-Za-z_][A-Za-z0-9_]*)}?");

    private final @Nullable Scope parent;
    private final Directive block;

    /** @param parent scope of the enclosing block; null for the outermost block */
    public Scope(@Nullable Scope parent, Directive block) {
        this.parent = parent;
        this.block = block;
    }

    /** The directive with the block. */
    public Directive block() {
        return block;
    }

    /** The scope of the enclosing block; null for the outermost block. */
    @Nullable
    public Scope parent() {
        return parent;
    }

    /** Returns the directives with one of the names from all levels. Those of the outermost block come first. */
    public List<Directive> everywhere(String... names) {
        List<Directive> found = new ArrayList<>(parent == null ? List.of() : parent.everywhere(names));
        found.addAll(own(names));
        return found;
    }

    /**
     * Returns the directives with one of the names, from the innermost block that contains any. Returns an empty list
     * if no block contains one.
     */
    public List<Directive> all(String... names) {
        for (Scope scope = this; scope != null; scope = scope.parent) {
            List<Directive> found = scope.own(names);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** Returns the directives with one of the names in this block, without inherited ones. */
    public List<Directive> own(String... names) {
        List<Directive> found = new ArrayList<>();
        for (Directive each : block.children()) {
            if (List.of(names).contains(each.name())) {
                found.add(each);
            }
        }
        return found;
    }

    /** Returns the last directive with a name in the innermost block that contains one. Returns null if none does. */
    @Nullable
    public Directive last(String name) {
        List<Directive> all = all(name);
        return all.isEmpty() ? null : all.get(all.size() - 1);
    }

    /** Returns the first argument of the directive that {@link #last} finds; {@code otherwise} if there is none. */
    public String value(String name, String otherwise) {
        Directive found = last(name);
        return found == null ? otherwise : found.arg(0);
    }

    /** Returns true if the directive is {@code on}. */
    public boolean isOn(String name) {
        return value(name, "off").equals("on");
    }

    /**
     * Returns the location in this block that handles an internal request with this path. Returns null if there is
     * none.
     */
    @Nullable
    public Scope location(String path) {
        for (Directive each : own("location")) {
            if (each.text().equals("= " + path) || each.text().equals("=" + path)) {
                return new Scope(this, each);
            }
        }
        for (Directive each : own("location")) {
            if (each.text().equals(path) || each.text().equals("^~ " + path)) {
                return new Scope(this, each);
            }
        }
        return null;
    }

    /** Returns the {@code set} directive that defines a variable; null if there is none. */
    @Nullable
    public Directive set(String variable) {
        for (Scope scope = this; scope != null; scope = scope.parent) {
            Directive found = null;
            for (Directive each : scope.own("set")) {
                found = each.arg(0).equals("$" + variable) ? each : found;
            }
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** Replaces the variables that {@code set} directives define by their values, and marks these directives. */
    public String expand(String text) {
        // A value may contain variables itself, up to 10 levels deep.
        String expanded = text;
        for (int round = 0; round < 10; round++) {
            Matcher variable = VARIABLE.matcher(expanded);
            StringBuilder out = new StringBuilder();
            while (variable.find()) {
                Directive set = set(variable.group(1));
                if (set != null) {
                    set.note("the value is written where the variable is used");
                }
                variable.appendReplacement(out, Matcher.quoteReplacement(set == null ? variable.group() : set.arg(1)));
            }
            variable.appendTail(out);
            if (out.toString().equals(expanded)) {
                break;
            }
            expanded = out.toString();
        }
        return expanded;
    }
}
