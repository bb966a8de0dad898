package io.millrace.bench.regress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BudgetTest {
    private static final Measured YARDSTICK = new Measured("YardstickBenchmark.round", 0, 200, 1);
    private static final Budget BUDGET = new Budget(64, 0.5);

    private static Measured took(double bytes, double nanos, double errorNanos) {
        return new Measured("A.b", bytes, nanos, errorNanos);
    }

    @Test
    void aResultAtItsBudgetMeetsIt() {
        assertNull(BUDGET.excess(took(64, 100, 0), YARDSTICK));
    }

    @Test
    void eightBytesMoreAreTooMany() {
        assertEquals("allocates 72.0 B/op, budget 64.0", BUDGET.excess(took(72, 100, 0), YARDSTICK));
    }

    @Test
    void aQuarterMoreTimeIsNoiseAndMoreIsNot() {
        assertNull(BUDGET.excess(took(64, 124, 0), YARDSTICK));
        assertNotNull(BUDGET.excess(took(64, 126, 0), YARDSTICK));
    }

    @Test
    void theErrorOfTheMeasurementCountsForTheBenchmark() {
        assertNull(BUDGET.excess(took(64, 150, 30), YARDSTICK));
        assertNotNull(BUDGET.excess(took(64, 150, 10), YARDSTICK));
    }

    @Test
    void aSlowerMachineIsSlowerAtTheYardstickToo() {
        assertNull(BUDGET.excess(took(64, 300, 0), new Measured("YardstickBenchmark.round", 0, 600, 1)));
    }

    @Test
    void aSingleMeasurementHasNoError() {
        assertNull(BUDGET.excess(took(64, 100, Double.NaN), YARDSTICK));
    }

    @Test
    void writtenBudgetsAreReadAndMet() {
        Measured found = took(64.04, 100, 3);
        Map<String, Budget> budgets = Budget.parse(Budget.format(Map.of("A.b", found), YARDSTICK, true));
        assertNull(budgets.get("A.b").excess(found, YARDSTICK));
        assertNotNull(budgets.get("A.b").excess(took(64.04, 1000, 3), YARDSTICK));
    }

    @Test
    void aBudgetWithoutTimeJudgesAllocationAlone() {
        Budget written = Budget.parse(Budget.format(Map.of("A.b", took(64, 100, 3)), YARDSTICK, false))
                .get("A.b");
        assertNull(written.excess(took(64, 100_000, 3), YARDSTICK));
        assertNotNull(written.excess(took(72, 100, 3), YARDSTICK));
        assertNull(BUDGET.withoutTime().excess(took(64, 100_000, 3), YARDSTICK));
    }

    @Test
    void commentsAndEmptyLinesAreNoBudgets() {
        assertTrue(Budget.parse(List.of("# A.b 1 2", "", "  ")).isEmpty());
    }

    @Test
    void aLineThatIsNoneIsNamed() {
        Exception parts = assertThrows(IllegalArgumentException.class, () -> Budget.parse(List.of("A.b 1 2", "A.c 1")));
        assertEquals("line 2: A.c 1: parts: actual=2, expected=3", parts.getMessage());
        Exception number = assertThrows(IllegalArgumentException.class, () -> Budget.parse(List.of("A.b one 2")));
        assertTrue(number.getMessage().startsWith("line 1: A.b one 2: "), number.getMessage());
    }
}
