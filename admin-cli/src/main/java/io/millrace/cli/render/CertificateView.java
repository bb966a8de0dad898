package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Formats the responses of {@code /v1/tls/certificates} and {@code /v1/tls/check} as text. Stateless. */
public final class CertificateView {
    private static final int STATE_WIDTH = 9;
    private static final int NAMES_MAX = 3;

    private CertificateView() {}

    /** Returns a line for each certificate and each of its problems; a message if there are no certificates. */
    public static List<String> list(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        long now = report.number("now", 0);
        List<JsonObject> certificates = report.objects("certificates");
        for (JsonObject each : certificates) {
            String state = Printable.of(each.text("state", "?"));
            lines.add(painted(state, paint) + " ".repeat(Math.max(1, STATE_WIDTH - state.length())) + names(each)
                    + end(each, now) + (each.object("staple").isTrue("required") ? ", must-staple" : "") + ", "
                    + Printable.of(each.text("file", "?")));
            List<String> settings = each.texts("settings");
            if (!settings.isEmpty()) {
                lines.add(" ".repeat(STATE_WIDTH) + Printable.of(String.join(", ", settings)));
            }
            problem(each, lines, paint);
            staple(each, lines, paint);
        }
        directories(report, lines, paint);
        long total = report.number("total", certificates.size());
        if (total > certificates.size()) {
            lines.add(
                    "and " + Quantities.count(total - certificates.size()) + " more; millctl tls show NAME shows one");
        }
        for (JsonObject each : report.objects("automatic")) {
            automatic(each, now, lines, paint);
        }
        return lines.isEmpty() ? List.of("no certificates: no address uses TLS") : lines;
    }

    /** Adds a line for a name with an automatically issued certificate, and its last failure if there is one. */
    private static void automatic(JsonObject each, long now, List<String> lines, Paint paint) {
        String state = Printable.of(each.text("state", "?"));
        long retry = each.number("retry", 0);
        long next = Math.max(each.number("renewal", 0), retry);
        lines.add(painted(state, paint) + " ".repeat(Math.max(1, STATE_WIDTH - state.length()))
                + "automatic: " + Printable.of(each.text("name", "?")) + end(each, now) + ", next order "
                + (next <= now ? "now" : "in " + Quantities.duration(next - now)));
        problem(each, lines, paint);
    }

    /** Formats the result of a successful order of a certificate in one line. */
    public static List<String> renewed(JsonObject report) {
        String name = Printable.of(report.text("name", "?"));
        return List.of(name + ": valid until " + Instant.ofEpochSecond(report.number("not_after", 0)) + ", issued by "
                + Printable.of(report.text("issuer", "?")));
    }

    /** Returns a paragraph with all details of each certificate. */
    public static List<String> details(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        long now = report.number("now", 0);
        for (JsonObject each : report.objects("certificates")) {
            Rows rows = new Rows(Printable.of(each.text("file", "?")) + " is "
                    + painted(Printable.of(each.text("state", "?")), paint));
            String problem = each.text("problem");
            if (problem != null) {
                rows.add("problem", paint.bad(Printable.of(problem)));
            }
            row(rows, "names", each.texts("names"));
            row(rows, "settings", settings(each));
            rows.add(
                    "key",
                    Printable.of(each.text("key_type", "") + " in " + each.text("key", "?"))
                            .strip());
            String issuer = each.text("issuer");
            if (issuer != null) {
                rows.add("issuer", Printable.of(issuer));
                rows.add(
                        "valid",
                        Instant.ofEpochSecond(each.number("not_before", 0)) + " to "
                                + Instant.ofEpochSecond(each.number("not_after", 0)) + end(each, now));
                row(rows, "chain", each.texts("chain"));
                rows.add("serial", Printable.of(each.text("serial", "?")));
                rows.add("SHA-256", Printable.of(each.text("sha256", "?")));
                rows.add(
                        "loaded",
                        Instant.ofEpochSecond(each.number("loaded", 0)).toString());
            }
            row(rows, "OCSP", ocsp(each.object("staple"), now));
            row(rows, "note", each.texts("notes"));
            lines.addAll(rows.lines());
        }
        directories(report, lines, paint);
        for (JsonObject each : report.objects("automatic")) {
            automatic(each, now, lines, paint);
        }
        return lines.isEmpty() ? List.of("no certificates found") : lines;
    }

    private static void directories(JsonObject report, List<String> lines, Paint paint) {
        for (JsonObject each : report.objects("directories")) {
            lines.add(paint.bad("unreadable") + " " + Printable.of(each.text("path", "?")) + ": "
                    + Printable.of(each.text("problem", "?")));
        }
    }

    private static void row(Rows rows, String label, List<String> values) {
        for (int i = 0; i < values.size(); i++) {
            if (i == 0) {
                rows.add(label, Printable.of(values.get(i)));
            } else {
                rows.more(Printable.of(values.get(i)));
            }
        }
    }

    private static String names(JsonObject certificate) {
        List<String> names = certificate.texts("names");
        StringBuilder first = new StringBuilder();
        for (int i = 0; i < names.size() && i < NAMES_MAX; i++) {
            first.append(i == 0 ? "" : ", ").append(Printable.of(names.get(i)));
        }
        return names.isEmpty()
                ? "no names"
                : first + (names.size() > NAMES_MAX ? " and " + (names.size() - NAMES_MAX) + " more" : "");
    }

    /** Returns text such as {@code , ends in 12d 3h}; empty if the expiry time is unknown. */
    private static String end(JsonObject certificate, long now) {
        long end = certificate.number("not_after", 0);
        if (end == 0) {
            return "";
        }
        return end > now
                ? ", ends in " + Quantities.duration(end - now)
                : ", ended " + Quantities.duration(now - end) + " ago";
    }

    private static void problem(JsonObject certificate, List<String> lines, Paint paint) {
        String problem = certificate.text("problem");
        if (problem != null) {
            lines.add(" ".repeat(STATE_WIDTH) + paint.bad(Printable.of(problem)));
        }
    }

    /** Returns the TLS settings in use with their source. If the response lacks them, returns the configured ones. */
    private static List<String> settings(JsonObject certificate) {
        List<String> lines = new ArrayList<>();
        for (JsonObject each : certificate.objects("in_force")) {
            String address = each.text("address");
            lines.add(each.text("name", "?") + ": " + each.text("value", "?") + " (" + each.text("source", "?")
                    + (address == null ? "" : ", on " + address) + ")");
        }
        return lines.isEmpty() ? certificate.texts("settings") : lines;
    }

    /** Returns lines about the OCSP staple of a certificate; empty if it has no OCSP responder. */
    private static List<String> ocsp(JsonObject staple, long now) {
        List<String> lines = new ArrayList<>();
        String responder = staple.text("responder");
        if (responder != null) {
            String state = staple.text("state", "?");
            long until = staple.number("until", 0);
            lines.add((state.equals("off") ? "off by the settings" : state)
                    + (until > now ? ", staple ends in " + Quantities.duration(until - now) : "") + ", responder "
                    + responder);
            String problem = staple.text("problem");
            if (problem != null) {
                lines.add("since " + Instant.ofEpochSecond(staple.number("problem_since", 0)) + ": " + problem);
            }
        }
        if (staple.isTrue("required")) {
            lines.add("must-staple: clients refuse the certificate without a staple");
        }
        return lines;
    }

    private static void staple(JsonObject certificate, List<String> lines, Paint paint) {
        JsonObject staple = certificate.object("staple");
        String problem = staple.text("problem");
        if (problem != null) {
            String what = staple.text("state", "?").equals("stapled") ? "no new OCSP staple: " : "no OCSP staple: ";
            lines.add(" ".repeat(STATE_WIDTH) + paint.doubtful(Printable.of(what + problem)));
        }
    }

    private static String painted(String state, Paint paint) {
        return switch (state) {
            case "valid" -> paint.good(state);
            case "expiring" -> paint.doubtful(state);
            default -> paint.bad(state);
        };
    }
}
