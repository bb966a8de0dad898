package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.PathPattern;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@code location} block. A block such as {@code ~ ^/(img|css)/} becomes one location for each path. Immutable.
 *
 * @param path path of a prefix or exact location; empty for an expression
 * @param expression expression in RE2 syntax, or the name of a named location with its {@code @}; empty for a path
 * @param within path of the location that contains this one; {@code /} if there is none
 */
record Location(Scope scope, Kind kind, String path, String expression, String within) {
    /** How a location matches. */
    enum Kind {
        PREFIX,
        /** A prefix with {@code ^~}: if it is the longest matching prefix, no expressions are tested. */
        STRONG,
        EXACT,
        /** One path of an expression that is equivalent to prefixes. */
        PATHS,
        EXPRESSION,
        NAMED
    }

    Directive source() {
        return scope.block();
    }

    boolean isPath() {
        return !path.isEmpty();
    }

    /** Returns true if the rule of a location without {@code =} has the same path, so that this one has none. */
    boolean isPrefixToo(List<Location> locations) {
        return kind == Kind.EXACT
                && locations.stream().anyMatch(each -> each.kind != Kind.EXACT && each.path.equals(path));
    }

    /** Returns true if a rule is written for the path of this location, and not for an earlier one with the path. */
    boolean hasRule(List<Location> locations) {
        Location first = locations.stream()
                .filter(each -> each.path.equals(path) && !each.isPrefixToo(locations))
                .findFirst()
                .orElse(null);
        return isPath() && equals(first);
    }

    /**
     * Returns the locations of a server except the named ones, in the order of the rules to write. Expressions are
     * last.
     */
    static List<Location> ordered(Scope server) {
        List<Location> all = new ArrayList<>();
        collect(server, "/", all);
        List<Location> strong =
                all.stream().filter(each -> each.kind == Kind.STRONG).toList();
        List<Location> first = new ArrayList<>();
        List<Location> last = new ArrayList<>();
        for (Location each : all) {
            boolean extendsStrong =
                    each.kind == Kind.PREFIX && strong.stream().anyMatch(one -> each.path.startsWith(one.path));
            if (each.kind == Kind.EXACT || each.kind == Kind.STRONG || extendsStrong) {
                first.add(each);
            } else if (each.kind == Kind.PREFIX) {
                last.add(each);
            }
        }
        Comparator<Location> longest = Comparator.comparingInt(each -> -each.path.length());
        first.sort(longest);
        last.sort(longest);
        List<Location> ordered = new ArrayList<>(first);
        all.stream().filter(each -> each.kind == Kind.PATHS).forEach(ordered::add);
        ordered.addAll(last);
        all.stream().filter(each -> each.kind == Kind.EXPRESSION).forEach(ordered::add);
        return ordered;
    }

    private static void collect(Scope parent, String within, List<Location> all) {
        for (Directive each : parent.own("location")) {
            Scope scope = new Scope(parent, each);
            List<Location> parsed = of(scope, within);
            all.addAll(parsed);
            String inner = parsed.isEmpty() || parsed.get(0).path.isEmpty() ? within : parsed.get(0).path;
            collect(scope, inner, all);
        }
    }

    private static List<Location> of(Scope scope, String within) {
        Directive source = scope.block();
        String first = source.arg(0);
        String second = source.arg(1);
        if (source.args().size() == 1 && first.matches("(=|\\^~|~\\*?).+") && !first.startsWith("~/")) {
            // The blank between the modifier and the path is optional.
            int length = first.startsWith("=") ? 1 : first.startsWith("^~") || first.startsWith("~*") ? 2 : 1;
            second = first.substring(length);
            first = first.substring(0, length);
        }
        return switch (first) {
            case "=" -> List.of(new Location(scope, Kind.EXACT, second, "", within));
            case "^~" -> List.of(new Location(scope, Kind.STRONG, second, "", within));
            case "~", "~*" -> expression(scope, second, first.equals("~*"), within);
            default ->
                first.startsWith("@")
                        ? List.of(new Location(scope, Kind.NAMED, "", first, within))
                        : List.of(new Location(scope, Kind.PREFIX, first, "", within));
        };
    }

    private static List<Location> expression(Scope scope, String text, boolean ignoreCase, String within) {
        PathPattern paths = PathPattern.of(text);
        if (paths == null || (ignoreCase && paths.exact())) {
            return List.of(new Location(scope, Kind.EXPRESSION, "", (ignoreCase ? "(?i)" : "") + text, within));
        }
        if (ignoreCase) {
            scope.block().entry().note("rules compare paths case-sensitively, unlike ~*");
        }
        List<Location> all = new ArrayList<>();
        for (String prefix : paths.prefixes()) {
            all.add(new Location(scope, paths.exact() ? Kind.EXACT : Kind.PATHS, prefix, "", within));
        }
        return List.copyOf(all);
    }

    /** Returns the scope of a named location such as {@code @backend}; null if there is none. */
    @Nullable
    static Scope named(Scope server, String name) {
        for (Directive each : server.own("location")) {
            if (each.arg(0).equals(name)) {
                return new Scope(server, each);
            }
        }
        return null;
    }
}
