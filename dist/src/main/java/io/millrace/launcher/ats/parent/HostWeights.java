package io.millrace.launcher.ats.parent;

import io.millrace.launcher.importing.source.Quantity;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;

/** Converts Traffic Server's host weights, which may be fractions, to whole numbers. Stateless. */
final class HostWeights {
    /** Decimal places of a weight that are kept. */
    private static final int SCALE_MAX = 2;

    private static final BigInteger WEIGHT_MAX = BigInteger.valueOf(1000);

    private HostWeights() {}

    /** Parses a weight; 1 if the text is not a valid weight. */
    static BigDecimal read(String text) {
        try {
            BigDecimal weight = Quantity.number(text.strip());
            return weight.signum() < 0 ? BigDecimal.ONE : weight;
        } catch (NumberFormatException e) {
            return BigDecimal.ONE;
        }
    }

    /**
     * Returns the smallest whole numbers with the same ratios. Weights are first rounded to hundredths. If a result
     * would exceed 1000, all results are scaled down, so that the ratios are only approximate.
     */
    static List<BigInteger> whole(List<BigDecimal> weights) {
        List<BigInteger> whole = weights.stream()
                .map(weight -> weight.setScale(SCALE_MAX, RoundingMode.HALF_UP)
                        .unscaledValue()
                        .max(BigInteger.ONE))
                .toList();
        BigInteger divisor =
                whole.stream().reduce(BigInteger.ZERO, BigInteger::gcd).max(BigInteger.ONE);
        BigInteger greatest =
                whole.stream().reduce(BigInteger.ONE, BigInteger::max).divide(divisor);
        List<BigInteger> least =
                whole.stream().map(weight -> weight.divide(divisor)).toList();
        return greatest.compareTo(WEIGHT_MAX) <= 0
                ? least
                : least.stream()
                        .map(weight ->
                                weight.multiply(WEIGHT_MAX).divide(greatest).max(BigInteger.ONE))
                        .toList();
    }
}
