package io.millrace.launcher.nginx.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A block with the blocks around it, from which it inherits directives. Immutable. */
public final class Scope {
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{?([A-Za-z_][A-Za-z0-9_]*)}?");

    private final @Nullable Scope parent;
    private final Directive block;

    /** @param parent the surrounding block; null for the outermost one */
    public Scope(@Nullable Scope parent, Directive block) {
        this.parent = parent;
        this.block = block;
    }

    /** The directive with the block. */
    public Directive block() {
        return block;
    }

    /** Returns the directives with one of the names at the nearest level that has any; empty if no level has. */
    public List<Directive> all(String... names) {
        for (Scope at = this; at != null; at = at.parent) {
            List<Directive> found = at.own(names);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** Returns the directives of this level with one of the names. */
    public List<Directive> own(String... names) {
        List<Directive> found = new ArrayList<>();
        for (Directive each : block.children()) {
            if (List.of(names).contains(each.name())) {
                found.add(each);
            }
        }
        return found;
    }

    /** Returns the last directive with the name at the nearest level that has one; null if no level has. */
    @Nullable
    public Directive last(String name) {
        List<Directive> all = all(name);
        return all.isEmpty() ? null : all.get(all.size() - 1);
    }

    /** Returns the last word of {@link #last}, or the default. */
    public String value(String name, String otherwise) {
        Directive found = last(name);
        return found == null ? otherwise : found.arg(0);
    }

    /** Returns true if the directive is {@code on}. */
    public boolean isOn(String name) {
        return value(name, "off").equals("on");
    }

    /** Returns the directive {@code set} that gives the variable its value; null if there is none. */
    @Nullable
    public Directive set(String variable) {
        for (Scope at = this; at != null; at = at.parent) {
            Directive found = null;
            for (Directive each : at.own("set")) {
                found = each.arg(0).equals("$" + variable) ? each : found;
            }
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** Replaces variables with constant values; others stay. Marks the {@code set} directives that are used. */
    public String expand(String text) {
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
