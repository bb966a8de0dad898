package io.millrace.proxy.exchange.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ExchangePhaseTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "exchange-phases.md");

    @Test
    void pageShowsEveryPhaseAndTransition() throws IOException {
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(PAGE, page());
        }
        assertEquals(
                page(),
                Files.readString(PAGE),
                "docs/reference/exchange-phases.md is out of date: run with -Dmillrace.docs.write=true");
    }

    @Test
    void everyPhaseIsReachedFromTheFirst() {
        Set<ExchangePhase> reached = EnumSet.of(ExchangePhase.RECEIVED);
        boolean grew = true;
        while (grew) {
            grew = reached.addAll(
                    reached.stream().flatMap(phase -> phase.next().stream()).collect(Collectors.toSet()));
        }
        assertEquals(EnumSet.allOf(ExchangePhase.class), reached);
    }

    @Test
    void onlyTheLastPhasesHaveNoNext() {
        for (ExchangePhase phase : ExchangePhase.values()) {
            assertEquals(phase.isTerminal(), phase.next().isEmpty(), phase.text());
        }
    }

    @Test
    void everyPhaseBeforeTheLastMayBeAborted() {
        for (ExchangePhase phase : ExchangePhase.values()) {
            assertTrue(phase.isTerminal() || phase.next().contains(ExchangePhase.ABORTED), phase.text());
        }
    }

    private static String page() {
        StringBuilder page = new StringBuilder("""
                # The phases of an exchange

                Printed by `ExchangePhaseTest` from `ExchangePhase`; do not edit.

                | phase | meaning | may be followed by |
                |---|---|---|
                """);
        for (ExchangePhase phase : ExchangePhase.values()) {
            page.append("| ")
                    .append(phase.text())
                    .append(" | ")
                    .append(phase.sentence())
                    .append(" | ");
            page.append(phase.next().stream().map(ExchangePhase::text).collect(Collectors.joining(", ")));
            page.append(" |\n");
        }
        page.append("\n```mermaid\nstateDiagram-v2\n    [*] --> received\n");
        for (ExchangePhase phase : ExchangePhase.values()) {
            for (ExchangePhase next : phase.next()) {
                page.append("    ")
                        .append(id(phase))
                        .append(" --> ")
                        .append(id(next))
                        .append('\n');
            }
        }
        return page.append("    done --> [*]\n    aborted --> [*]\n```\n").toString();
    }

    private static String id(ExchangePhase phase) {
        return phase.text().replace('-', '_');
    }
}
