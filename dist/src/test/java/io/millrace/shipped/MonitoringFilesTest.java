package io.millrace.shipped;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Tests the Prometheus rules and the Grafana dashboard that the product ships. */
class MonitoringFilesTest {
    private static final Path FILES = Path.of("src/main/dist/share/monitoring");
    private static final Path RUNBOOK = Path.of("../docs/guide/operating.md");
    private static final String RUNBOOK_URL = "https://millrace.io/millrace/docs/guide/operating.md#";

    private static Map<?, ?> read(String name) throws IOException {
        Object read = new Load(LoadSettings.builder().build()).loadFromString(Files.readString(FILES.resolve(name)));
        return (Map<?, ?>) read;
    }

    private static List<Map<?, ?>> maps(Object list) {
        List<Map<?, ?>> maps = new ArrayList<>();
        if (list != null) {
            ((List<?>) list).forEach(each -> maps.add((Map<?, ?>) each));
        }
        return maps;
    }

    private static String text(Map<?, ?> map, String key) {
        Object value = map.get(key);
        if (value == null) {
            throw new AssertionError("no " + key + " in " + map);
        }
        return value.toString();
    }

    private static List<Map<?, ?>> rules() throws IOException {
        List<Map<?, ?>> rules = new ArrayList<>();
        for (Map<?, ?> group : maps(read("prometheus-rules.yaml").get("groups"))) {
            rules.addAll(maps(group.get("rules")));
        }
        return rules;
    }

    private static Set<String> recordings() throws IOException {
        Set<String> names = new TreeSet<>();
        for (Map<?, ?> rule : rules()) {
            if (rule.containsKey("record")) {
                names.add(text(rule, "record"));
            }
        }
        return names;
    }

    private static List<Map<?, ?>> alerts() throws IOException {
        List<Map<?, ?>> alerts = new ArrayList<>(rules());
        alerts.removeIf(rule -> !rule.containsKey("alert"));
        return alerts;
    }

    @Test
    void promtoolAcceptsTheRules() throws IOException, InterruptedException {
        String promtool = Program.require("promtool", "install the package prometheus");
        Program.run(FILES, List.of(promtool, "check", "rules", "prometheus-rules.yaml"))
                .succeeds();
    }

    @Tag("nightly")
    @Test
    void promtoolAcceptsTheCasesOfTheRules() throws IOException, InterruptedException {
        String promtool = Program.require("promtool", "install the package prometheus");
        Program.run(FILES, List.of(promtool, "test", "rules", "prometheus-rules.test.yaml"))
                .succeeds();
    }

    @Test
    void expressionsOfRulesNameExportedMetrics() throws IOException {
        ExportedMetrics exported = new ExportedMetrics(recordings());
        List<String> problems = new ArrayList<>();
        for (Map<?, ?> rule : rules()) {
            problems.addAll(exported.problems(text(rule, "expr")));
        }
        assertEquals(List.of(), problems);
    }

    @Test
    void alertsHaveSeverityTextsAndRunbook() throws IOException {
        String runbook = Files.readString(RUNBOOK);
        Set<String> names = new HashSet<>();
        for (Map<?, ?> alert : alerts()) {
            String name = text(alert, "alert");
            assertTrue(names.add(name), name);
            assertTrue(name.startsWith("Millrace"), name);
            String severity = text((Map<?, ?>) alert.get("labels"), "severity");
            assertTrue(Set.of("critical", "warning").contains(severity), name);
            Map<?, ?> annotations = (Map<?, ?>) alert.get("annotations");
            assertTrue(text(annotations, "summary").length() <= 120, name);
            assertTrue(text(annotations, "description").endsWith("."), name);
            assertEquals(RUNBOOK_URL + name.toLowerCase(Locale.ROOT), text(annotations, "runbook_url"));
            assertTrue(runbook.contains("\n### " + name + "\n"), name + " has no section in " + RUNBOOK);
        }
        assertTrue(names.size() >= 20, names::toString);
    }

    @Test
    void everyAlertHasACaseThatFiresAndOneThatDoesNot() throws IOException {
        Set<String> cases = new TreeSet<>();
        for (Map<?, ?> one : maps(read("prometheus-rules.test.yaml").get("tests"))) {
            cases.add(text(one, "name"));
        }
        for (Map<?, ?> alert : alerts()) {
            String name = text(alert, "alert");
            assertTrue(cases.contains(name + " fires"), name);
            assertTrue(cases.contains(name + " does not fire"), name);
        }
    }

    @Test
    void expressionsOfTheDashboardNameExportedMetrics() throws IOException {
        ExportedMetrics exported = new ExportedMetrics(recordings());
        List<String> problems = new ArrayList<>();
        Map<?, ?> dashboard = read("grafana-dashboard.json");
        for (Map<?, ?> panel : maps(dashboard.get("panels"))) {
            for (Map<?, ?> target : maps(panel.get("targets"))) {
                String expression = text(target, "expr");
                problems.addAll(exported.problems(expression));
                assertTrue(expression.contains("instance=~\"$instance\""), expression);
            }
        }
        for (Map<?, ?> annotation : maps(((Map<?, ?>) dashboard.get("annotations")).get("list"))) {
            problems.addAll(exported.problems(text(annotation, "expr")));
        }
        assertEquals(List.of(), problems);
    }

    @Test
    void dashboardHasItsRowsAndCanBeImported() throws IOException {
        Map<?, ?> dashboard = read("grafana-dashboard.json");
        List<String> rows = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        Set<String> places = new HashSet<>();
        for (Map<?, ?> panel : maps(dashboard.get("panels"))) {
            assertTrue(ids.add(text(panel, "id")), panel::toString);
            Map<?, ?> place = (Map<?, ?>) panel.get("gridPos");
            assertTrue(places.add(text(place, "x") + " " + text(place, "y")), panel::toString);
            if (text(panel, "type").equals("row")) {
                rows.add(text(panel, "title"));
            } else {
                assertEquals("${datasource}", text((Map<?, ?>) panel.get("datasource"), "uid"));
                assertTrue(text(panel, "description").endsWith("."), panel::toString);
            }
        }
        assertEquals(
                List.of("Overview", "Latency", "Tiers", "Origins", "Errors", "TLS and HTTP/2", "Memory", "Processes"),
                rows);
        List<String> variables = new ArrayList<>();
        for (Map<?, ?> variable : maps(((Map<?, ?>) dashboard.get("templating")).get("list"))) {
            variables.add(text(variable, "name"));
        }
        assertEquals(List.of("datasource", "instance"), variables);
    }

    @Test
    void unknownNamesAreFound() {
        ExportedMetrics exported = new ExportedMetrics(Set.of());
        assertEquals(List.of(), exported.problems("sum by (cache) (rate(millrace_requests_total[5m] offset 1h)) > 0"));
        assertEquals(1, exported.problems("rate(millrace_request_total[5m])").size());
        assertEquals(
                1, exported.problems("millrace_requests_total{result=\"hit\"}").size());
        assertEquals(
                1,
                exported.problems("millrace_requests_total{cache=~\"hit|hits\"}")
                        .size());
        assertEquals(
                1,
                exported.problems("sum by (result) (millrace_requests_total)").size());
        assertEquals(1, exported.problems("time() > 5").size());
    }
}
