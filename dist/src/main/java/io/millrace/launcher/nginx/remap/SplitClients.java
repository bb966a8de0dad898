package io.millrace.launcher.nginx.remap;

import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A {@code split_clients} block, which sets a variable from the hash of a text. Immutable.
 *
 * @param variable name without the dollar sign
 * @param parts the lines with a percentage, in order, then the line for all other requests
 */
public record SplitClients(Directive source, String variable, List<Part> parts) {
    private static final BigDecimal WHOLE = BigDecimal.valueOf(100);
    private static final Pattern PERCENTAGE = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,2})?)%");
    private static final Pattern VARIABLE = Pattern.compile("\\$(\\w+)");

    /**
     * A value of the variable.
     *
     * @param line the line with the value
     * @param percentage share of the requests, above 0 and at most 100
     */
    public record Part(Directive line, String value, BigDecimal percentage) {}

    /** Returns the block whose variable a text contains. Returns null if there is none, or none that nginx accepts. */
    @Nullable
    public static SplitClients of(Scope scope, String text) {
        for (Directive each : scope.everywhere("split_clients")) {
            String variable = each.arg(1).replaceAll("[${}]", "");
            List<Part> parts = variable.isEmpty() || !contains(text, variable) ? List.of() : parts(each);
            if (!parts.isEmpty()) {
                return new SplitClients(each, variable, parts);
            }
        }
        return null;
    }

    /** Returns true if the origin of a scope depends on the variable of a {@code split_clients} block. */
    public static boolean choosesOrigin(Scope scope, String variable) {
        for (Directive each : scope.own("proxy_pass", "grpc_pass")) {
            SplitClients split = of(scope, each.arg(0));
            if (split != null && split.variable.equals(variable)) {
                return true;
            }
        }
        return false;
    }

    private static boolean contains(String text, String variable) {
        return Pattern.compile("\\$(\\{" + variable + "}|" + variable + "\\b)")
                .matcher(text)
                .find();
    }

    /** Returns the values. Returns an empty list if the percentages are invalid. */
    private static List<Part> parts(Directive block) {
        List<Part> parts = new ArrayList<>();
        BigDecimal remaining = WHOLE;
        for (Directive each : block.children()) {
            Matcher percentage = PERCENTAGE.matcher(each.name());
            if (percentage.matches()) {
                BigDecimal share = new BigDecimal(percentage.group(1));
                remaining = remaining.subtract(share);
                parts.add(new Part(each, each.arg(0), share));
            } else if (!each.name().equals("*")) {
                return List.of();
            }
        }
        parts.removeIf(each -> each.percentage.signum() == 0);
        if (remaining.signum() < 0) {
            return List.of();
        }
        if (remaining.signum() > 0) {
            List<Directive> others = block.children("*");
            Directive line = others.isEmpty() ? block : others.get(0);
            parts.add(new Part(line, others.isEmpty() ? "" : line.arg(0), remaining));
        }
        return List.copyOf(parts);
    }

    /** Returns a text with a value in place of the variable. */
    public String replaceIn(String text, Part part) {
        return text.replaceAll("\\$(\\{" + variable + "}|" + variable + "\\b)", Matcher.quoteReplacement(part.value()));
    }

    /**
     * Returns the value of {@code split_by} for the hashed text. Returns null if the text depends on something else
     * than the client's address or one cookie.
     */
    public @Nullable String splitBy() {
        Matcher variables = VARIABLE.matcher(source.arg(0).replaceAll("\\$\\{(\\w+)}", "\\$$1 "));
        String found = variables.find() ? variables.group(1) : "";
        if (variables.find()) {
            return null;
        }
        if (found.equals("remote_addr") || found.equals("binary_remote_addr")) {
            return "client";
        }
        return found.matches("cookie_\\w+") ? "cookie[\"" + found.substring("cookie_".length()) + "\"]" : null;
    }
}
