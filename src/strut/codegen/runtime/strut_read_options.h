/* strut runtime: options that Python hands over. */

/* Options as numbers in double precision, in which Python hands them over whatever the precision of runs is: method,
 * ledger, step, max_step, rtol, atol, zeno, max_steps. */
typedef struct {
    double number[8];
} strut_option_numbers;

STRUT_FN strut_options strut_read_options(const strut_option_numbers *from)
{
    const double *numbers = from->number;
    strut_options o;
    o.method = (int32_t)numbers[0];
    o.ledger = (int32_t)numbers[1];
    o.dense = o.reserved = 0;
    o.step = (strut_number)numbers[2];
    o.max_step = numbers[3] < STRUT_MAX ? (strut_number)numbers[3] : STRUT_MAX;
    o.rtol = (strut_number)numbers[4];
    o.atol = (strut_number)numbers[5];
    o.zeno = (strut_number)numbers[6];
    o.max_steps = (int64_t)numbers[7];
    return o;
}
