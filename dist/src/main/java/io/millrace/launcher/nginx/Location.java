package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.access.AccessPlan;
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
 * @param expression regular expression, for the kinds EXPRESSION and PATHS; name with its {@code @}, for the kind
 *     NAMED; empty for other kinds
 * @param within path of the location that contains this one; {@code /} if there is none
 */
record Location(Scope scope, Kind kind, String path, String expression, String within) {
    /** How a location matches. */
    enum Kind {
        /** A path prefix without a modifier. */
        PREFIX,
        /** A prefix with {@code ^~}: if it is the longest matching prefix, no expressions are tested. */
        STRONG,
        /** Exactly one path, with {@code =}. */
        EXACT,
        /** One path of an expression that is equivalent to prefixes. */
        PATHS,
        /** A regular expression, with {@code ~} or {@code ~*}. */
        EXPRESSION,
        /** A named location such as {@code @backend}, which only other directives refer to. */
        NAMED
    }

    Directive source() {
        return scope.block();
    }

    boolean isPath() {
        return !path.isEmpty();
    }

    /**
     * Returns true if this is an exact location, and a location without {@code =} has the same path. Only that location
     * then has a rule for the path.
     */
    boolean isPrefixToo(List<Location> locations) {
        return kind == Kind.EXACT
                && locations.stream().anyMatch(each -> each.kind != Kind.EXACT && each.path.equals(path));
    }

    /**
     * Returns true if this location has a rule for its path. Returns false if an earlier location with the same path
     * has the rule.
     */
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
            if (each.kind == Kind.STRONG || each.extendsOneOf(strong)) {
                first.add(each);
            } else if (each.kind == Kind.PREFIX) {
                last.add(each);
            }
        }
        Comparator<Location> longest = Comparator.comparingInt(each -> -each.path.length());
        first.sort(longest);
        last.sort(longest);
        List<Location> ordered = new ArrayList<>(first);
        List<Location> expressions = new ArrayList<>();
        for (Location each : all) {
            // A prefix location that is longer than a location with ^~ precedes the paths of expressions in the rules,
            // but nginx tests the expressions first. An expression that matches such paths therefore gets no rules for
            // its paths.
            boolean behind = first.stream().anyMatch(one -> one.kind == Kind.PREFIX && one.isRelated(each));
            if (each.kind == Kind.EXPRESSION || (each.kind == Kind.PATHS && behind)) {
                expressions.add(each.asExpression());
            } else if (each.kind == Kind.PATHS) {
                ordered.add(each);
            }
        }
        ordered.addAll(last);
        all.stream().filter(each -> each.kind == Kind.EXACT).forEach(each -> insert(each, ordered));
        expressions.stream().distinct().forEach(ordered::add);
        return ordered;
    }

    /**
     * Inserts an exact location before the first rule that also matches its path, but after the rules for longer paths.
     */
    private static void insert(Location exact, List<Location> ordered) {
        int at = 0;
        while (at < ordered.size() && !ordered.get(at).contains(exact)) {
            at++;
        }
        ordered.add(at, exact);
    }

    private boolean contains(Location exact) {
        return exact.path.startsWith(path) && (kind != Kind.EXACT || path.length() < exact.path.length());
    }

    private boolean extendsOneOf(List<Location> strong) {
        return kind == Kind.PREFIX && strong.stream().anyMatch(one -> path.startsWith(one.path));
    }

    /** Returns true if some requests match the paths of both locations. */
    private boolean isRelated(Location other) {
        return path.startsWith(other.path) || other.path.startsWith(path);
    }

    /** Returns the location with its expression instead of a path. */
    Location asExpression() {
        return new Location(scope, Kind.EXPRESSION, "", expression, within);
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
        String expression = (ignoreCase ? "(?i)" : "") + text;
        // A location that refuses requests stays an expression unless the prefixes match exactly the same paths. Its
        // condition then refuses exactly the paths of the expression.
        boolean refuses =
                AccessPlan.onlyDenies(scope) || AccessPlan.refusal(scope) != null || AccessPlan.internal(scope) != null;
        boolean matchesMore = ignoreCase || (paths != null && paths.end() != PathPattern.End.ANY);
        if (paths == null || (ignoreCase && paths.end() == PathPattern.End.EXACT) || (refuses && matchesMore)) {
            return List.of(new Location(scope, Kind.EXPRESSION, "", expression, within));
        }
        if (ignoreCase) {
            scope.block().entry().note("rules compare paths case-sensitively, unlike ~*");
        }
        List<Location> all = new ArrayList<>();
        for (String prefix : paths.prefixes()) {
            switch (paths.end()) {
                case ANY -> all.add(new Location(scope, Kind.PATHS, prefix, expression, within));
                case EXACT -> all.add(new Location(scope, Kind.EXACT, prefix, "", within));
                case SLASH -> {
                    all.add(new Location(scope, Kind.PATHS, prefix + "/", expression, within));
                    all.add(new Location(scope, Kind.EXACT, prefix, "", within));
                }
            }
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
